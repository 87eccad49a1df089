"""The application that the container serves: trials of three answers, on the newest release."""

import uvicorn

from scbench.integrations import openenv

app = openenv.app()


def main() -> None:
    """Serve the application on port 8000."""
    uvicorn.run(app, host="0.0.0.0", port=8000)  # noqa: S104  (the container's only port)


if __name__ == "__main__":
    main()
