"""`python -m thenga` is the same command as `thenga`."""

from thenga.command import main

if __name__ == "__main__":
    main()
