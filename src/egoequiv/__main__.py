"""`python -m egoequiv`."""

from egoequiv.cli.main import main

if __name__ == "__main__":  # worker processes import this module too
    main()
