"""Landscapes, towns and rooms: what the places world is made of, and how it is drawn."""
