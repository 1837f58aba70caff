"""Models of others: any vision model as a function from images to features, maps or tokens."""
