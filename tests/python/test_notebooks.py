"""The notebooks of docs/notebooks run, and give the outputs that are stored, except for cells with the tag `varies`."""

import os

import pytest
from conftest import SOURCE

nbformat = pytest.importorskip("nbformat")
execute = pytest.importorskip("nbconvert.preprocessors")
pytest.importorskip("ipykernel")


def outputs(cell):
    """The text that a cell prints, and the texts and pictures that it shows, without formats for browsers."""
    shown = [output.get("data", {}) for output in cell.get("outputs", [])]
    printed = "".join(output.get("text", "") for output in cell.get("outputs", []) if output.get("name") == "stdout")
    return printed, [{kind: data for kind, data in each.items() if kind != "text/html"} for each in shown if each]


@pytest.mark.parametrize("name", sorted(file.name for file in (SOURCE / "docs/notebooks").glob("*.ipynb")))
def test_a_notebook(name):
    file = SOURCE / "docs/notebooks" / name
    assert file.stat().st_size < 200_000
    stored = nbformat.read(file, as_version=4)
    now = nbformat.from_dict(stored)
    execute.ExecutePreprocessor(timeout=120, kernel_name="python3").preprocess(now, {"metadata": {"path": file.parent}})
    if os.environ.get("WORKBENCH_UPDATE_GOLDEN") == "1":
        for cell in now.cells:
            cell.metadata.pop("execution", None)
            if "outputs" in cell:
                cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]  # progress
        nbformat.write(now, file)
        return
    for before, after in zip(stored.cells, now.cells):
        if "varies" not in before.metadata.get("tags", []):
            assert outputs(before) == outputs(after), before.source
