"""The toys of the turntable world, and how they are drawn."""
