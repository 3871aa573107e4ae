import json
import numpy
import scipy.sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

matrix = scipy.sparse.load_npz("matrix.npz")
own = json.load(open("parameters.json"))["parameters"]
order = reverse_cuthill_mckee(matrix, symmetric_mode=own.get("symmetric", False))
numpy.save("order.npy", order.astype(numpy.int64))
json.dump({"first row": int(order[0])}, open("notes.json", "w"))
