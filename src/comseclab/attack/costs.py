"""What a run measured of the configurations that another attacks."""

from pathlib import Path

from pydantic import ValidationError

from comseclab.analysis.summary import Summary
from comseclab.errors import LabError


def summary_of(folder: Path) -> Summary:
    """What a run measured. Raises LabError where that is nothing that can stand beside attacks."""
    try:
        summary = Summary.model_validate_json((folder / "summary.json").read_text())
    except OSError:
        raise LabError(f"{folder} has no summary.json", "give a run folder that `comseclab run` finished") from None
    except ValidationError:
        raise LabError(f"{folder / 'summary.json'} is damaged", f"comseclab report {folder} writes it anew") from None
    compared = summary.comparison
    if compared is None or (compared.factor, compared.baseline) != ("protection", "none"):
        told = f"{compared.factor} with {compared.baseline}" if compared else "nothing"
        raise LabError(f"{folder} compares {told}", "give a run that compares protections with none")
    return summary
