"""A campaign of damaged inputs and of kills: no command may end in a traceback, hang, or lose a file."""
