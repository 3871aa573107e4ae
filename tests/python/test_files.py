"""MATLAB and HDF5 files: the program and scipy, or h5py, read what the other has written."""

import json
import subprocess

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import drawn
from spmv_workbench.program import program


def convert(source, target, *options):
    done = subprocess.run([program(), "convert", source, target, *options], capture_output=True, text=True)
    if "was built without it" in done.stderr:
        pytest.skip(done.stderr.strip())
    return done


def converted(source, tmp_path, *options):
    """The matrix that the program reads."""
    target = tmp_path / "read.npz"
    target.unlink(missing_ok=True)
    done = convert(source, target, *options)
    assert done.returncode == 0, done.stderr
    return scipy.sparse.load_npz(target)


def same(A, B):
    A, B = (scipy.sparse.csr_matrix(each) for each in (A, B))
    A.sort_indices()
    B.sort_indices()
    return A.shape == B.shape and all((a == b).all() for a, b in ((A.indptr, B.indptr), (A.indices, B.indices), (A.data, B.data)))


A = drawn(30, 40)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, bool])
def test_matlab_of_scipy(tmp_path, dtype, compressed):
    scipy.io.savemat(tmp_path / "a.mat", {"K": A.astype(dtype), "b": np.arange(30.0)}, do_compression=compressed)
    assert same(converted(tmp_path / "a.mat", tmp_path), A.astype(dtype))
    problem = {"name": "HB/a", "title": "a matrix", "A": A.astype(dtype), "Zeros": A * 0, "b": np.arange(30.0), "id": 7.0, "aux": {"c": A * 2}}
    scipy.io.savemat(tmp_path / "a.mat", {"Problem": problem}, do_compression=compressed)
    assert same(converted(tmp_path / "a.mat", tmp_path), A.astype(dtype))
    assert same(converted(tmp_path / "a.mat", tmp_path, "--member", "Problem.aux.c"), A * 2)


def test_matlab_that_is_refused(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"A": A * 1j})
    done = convert(tmp_path / "a.mat", tmp_path / "b.npz")
    assert done.returncode == 3 and "found complex values" in done.stderr and not (tmp_path / "b.npz").exists()


@pytest.mark.parametrize("shape", [(30, 40), (40, 30), (1, 1), (5, 0), (0, 5)])
def test_matlab_for_scipy(tmp_path, shape):
    matrix = drawn(*shape)
    scipy.sparse.save_npz(tmp_path / "a.npz", matrix)
    assert convert(tmp_path / "a.npz", tmp_path / "a.mat").returncode == 0
    assert same(scipy.io.loadmat(tmp_path / "a.mat")["A"], matrix)


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    scipy.sparse.save_npz(tmp_path / "a.npz", A)
    assert convert(tmp_path / "a.npz", tmp_path / "a.h5").returncode == 0
    with h5py.File(tmp_path / "a.h5") as file:
        descriptor = json.loads(file.attrs["binsparse"])["binsparse"]
        assert (descriptor["format"], descriptor["shape"], descriptor["number_of_stored_values"]) == ("CSR", [30, 40], A.nnz)
        for name, type in descriptor["data_types"].items():
            assert file[name].dtype == type
        assert same(scipy.sparse.csr_matrix((file["values"][:], file["indices_1"][:], file["pointers_to_1"][:]), (30, 40)), A)
    columns = A.tocsc()
    with h5py.File(tmp_path / "b.h5", "w") as file:
        group = file.create_group("suite/a")
        group.attrs["binsparse"] = json.dumps({"binsparse": {"version": "0.1", "format": "CSC", "shape": [30, 40]}})
        group.create_dataset("values", data=columns.data, compression="gzip")
        group.create_dataset("indices_1", data=columns.indices.astype(np.uint64), compression="gzip")
        group.create_dataset("pointers_to_1", data=columns.indptr)
    assert same(converted(tmp_path / "b.h5", tmp_path, "--member", "suite/a"), A)
