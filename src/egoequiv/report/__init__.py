"""Tables, figures and pictures for people."""
