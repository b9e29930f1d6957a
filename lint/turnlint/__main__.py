"""`python -m turnlint` is `turnlint`."""

from turnlint.cli import main

if __name__ == "__main__":
    main()
