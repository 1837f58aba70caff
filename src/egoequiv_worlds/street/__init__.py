"""Streets with traffic: what the drive world is made of, and how it is drawn."""
