"""`python -m egoequiv`, and the program `egoequiv`."""

import signal


def main() -> None:
    """Run a command; it can be stopped from here on, while its modules are still being imported."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # nothing has begun: the signal ends the process, in silence
    from egoequiv.cli.stopping import stoppable

    with stoppable():
        from egoequiv.cli.main import main as run

        run()


if __name__ == "__main__":  # worker processes import this module too
    main()
