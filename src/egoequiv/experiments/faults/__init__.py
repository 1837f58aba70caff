"""Faults put into sound logs, and how well the doctor finds them."""
