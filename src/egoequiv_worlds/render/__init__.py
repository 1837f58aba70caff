"""How the worlds are drawn: geometry, noise, patterns, visibility and light."""
