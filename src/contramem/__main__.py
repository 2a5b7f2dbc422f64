"""`python -m contramem`, for where the script is not on the path."""

from contramem.cli import main

main()
