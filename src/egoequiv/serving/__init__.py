"""The service: features, predictions, plans and neighbours over HTTP, and the page to explore them with."""
