"""The command line: it prints one line for a user's mistake and exits with a documented code."""

import errno
import os
import sys
from typing import NoReturn

import typer

from comseclab.cli import attack, build, clean, demo, doctor, report, reproduce, run
from comseclab.errors import LabError
from comseclab.signals import terminate_as_exception

EXIT_INPUT = 2
EXIT_INTERRUPTED = 130

EPILOG = """
[bold]Examples[/bold]

  comseclab demo                                what DDS Security costs a laser scan and a camera image

  comseclab run plans/template.toml --dry-run   the cases of a plan and the time they need

  comseclab run plans/demo.toml --recording drive.mcap --topic /scan

  comseclab reproduce martin2018 --quick        a published study's figures, and this machine's beside them

  comseclab attack plans/attacks.toml           what each protection stops, with evidence

  comseclab report runs/latest                  rebuild the page

[bold]Exit codes[/bold]  0 fine; 1 a stated limit is broken; 2 input or environment wrong; 3 something is undecided;
130 interrupted (143 by SIGTERM)
"""

app = typer.Typer(
    help="A laboratory for communication security in robots: what does a protection cost, and does it protect?",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for verb in (
    demo.demo,
    run.run,
    attack.attack,
    reproduce.reproduce,
    report.report,
    doctor.doctor,
    clean.clean,
    build.build,
):
    app.command(no_args_is_help=verb in (run.run, attack.attack, reproduce.reproduce))(verb)


@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def test() -> None:
    """Check the project itself: lint, types, unit tests, real trials.

    Example: ./comseclab test tests/plan (arguments go to pytest)
    """
    raise LabError("tests run from a checkout", "use ./comseclab test there")


def main() -> None:
    """Run the command line. A mistake in options is answered by typer; every other one here, by one line."""
    try:
        with terminate_as_exception():
            app()
    except LabError as error:
        fail(str(error))
    except KeyboardInterrupt:
        print("\ncomseclab: interrupted; nothing is left running", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            fail(f"the disk is full ({error.filename or 'writing results'}): free space, then continue with --resume")
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            fail(f"no right to use {error.filename or 'a file'}: {error.strerror}")
        if error.errno == errno.ENAMETOOLONG:
            fail(f"no file can be called {error.filename}: {error.strerror}")
        fail_unforeseen(error)
    except Exception as error:
        fail_unforeseen(error)


def fail_unforeseen(error: Exception) -> NoReturn:
    """One line for a defect of our own, too; COMSECLAB_DEBUG=1 shows where it is."""
    if os.environ.get("COMSECLAB_DEBUG"):
        raise error
    fail(f"an unforeseen {type(error).__name__}: {error} (COMSECLAB_DEBUG=1 shows where; please report it)")


def fail(message: str) -> NoReturn:
    """Print one line, whatever a name in it holds, and exit with the code for wrong input or environment."""
    print("comseclab:", *message.splitlines(), file=sys.stderr)
    sys.exit(EXIT_INPUT)
