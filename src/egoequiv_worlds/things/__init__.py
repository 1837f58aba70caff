"""What more than one world has: buildings, vehicles, plants, street furniture, weather, and dice to vary them."""
