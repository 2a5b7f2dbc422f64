"""`python -m contramem`, for where the script is not on the path."""

from contramem.cli import main

if __name__ == "__main__":  # worker processes import this module too
    main()
