#!/usr/bin/env python3
"""Writes src/model/builtin_models_data.inc from Netflix's model files.

    python3 scripts/generate_models.py ../shared/models > src/model/builtin_models_data.inc

The files repeat themselves: bootstrap members are trained on resampled data, float models on the
data of the integer ones, and all v1.0.16 models hold one regression.  So support vectors go into a
pool, each once, and a regression is a list of rows of that pool; nearly all coefficients are +4 or
-4, the sign of the row number, and the others are listed.  Numbers are written with the digits of
the files; a compiler rounds them to the nearest binary64 as a reader of the files does.
"""
import json
import pathlib
import struct
import sys

# In the order in which they are listed to users.
NAMES = [
    "vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_4k_v0.6.1", "vmaf_4k_v0.6.1neg", "vmaf_b_v0.6.3",
    "vmaf_float_v0.6.1", "vmaf_float_v0.6.1neg", "vmaf_float_4k_v0.6.1", "vmaf_float_b_v0.6.3",
    *(f"vmaf_v1.0.16_{hfr}{suffix}" for hfr in ("", "hfr_")
      for suffix in ("3d0h", "5d0h", "3d0h_2160", "1d5h_2160")),
]
COMMON_COEFFICIENT = "4"


class Pool(list):
    """Distinct items in order of first appearance."""

    def index_of(self, item):
        if item not in self:
            self.append(item)
        return self.index(item)


points = {4: Pool(), 6: Pool()}  # by number of features
rows = []  # of all regressions, one after the other
exceptions = []  # (index into rows, coefficient)
regressions = Pool()
regression_rows = {}  # text of a regression -> (first row, count)
scalings = Pool()
feature_lists = Pool()
transforms = Pool()


def read_regression(text, features):
    """Adds a regression in libsvm's text form, returns its index."""
    head, _, body = text.partition("SV\n")
    fields = dict(line.split(" ", 1) for line in head.strip().split("\n"))
    assert fields["svm_type"] == "nu_svr" and fields["kernel_type"] == "rbf"
    if text not in regression_rows:
        first = len(rows)
        lines = body.strip().split("\n")
        assert len(lines) == int(fields["total_sv"])
        for line in lines:
            coefficient, *cells = line.split()
            values = ["0"] * features
            for cell in cells:
                index, value = cell.split(":")
                values[int(index) - 1] = value
            row = points[features].index_of(tuple(values)) + 1
            negative = coefficient.startswith("-")
            if coefficient.lstrip("-") != COMMON_COEFFICIENT:
                exceptions.append((len(rows), coefficient))
            rows.append(-row if negative else row)
        regression_rows[text] = (first, len(lines))
    return regressions.index_of((features, fields["gamma"], fields["rho"].strip(),
                                 *regression_rows[text]))


def option_text(value):
    """As model.md section 1: numbers become the %g of their binary32 value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return "%g" % struct.unpack("f", struct.pack("f", value))[0]


def common_parts(model):
    """What all members of a collection share, as C++ initialisers."""
    features = model["feature_names"]
    assert model["norm_type"] == "linear_rescale"
    assert len(model["slopes"]) == len(model["intercepts"]) == len(features) + 1
    scaling = scalings.index_of((tuple(model["slopes"]), tuple(model["intercepts"])))
    options = ";".join(
        ",".join(f"{name}={option_text(value)}" for name, value in options.items())
        for options in model.get("feature_opts_dicts", []))
    transform = model.get("score_transform", {})
    assert not set(transform) - {"enabled", "p0", "p1", "p2", "out_gte_in"}
    low, high = model["score_clip"]
    assert low == 0
    polynomial = [transform.get(p, 0) for p in ("p0", "p1", "p2")]
    assert all(p in transform for p in ("p0", "p1", "p2")) or not transform
    transform = (bool(transform), transform.get("enabled", False),
                 transform.get("out_gte_in") == "true", *polynomial)
    return (feature_lists.index_of(tuple(features)), options, scaling,
            transforms.index_of(transform), high, model.get("chroma_correction_parameter", 0))


def read_model(folder, name):
    document = json.loads((folder / f"{name}.json").read_text())
    members = [document] if "model_dict" in document else list(document.values())
    members = [member["model_dict"] for member in members]
    parts = {common_parts(member) for member in members}
    assert len(parts) == 1
    kind = "LIBSVMNUSVR" if len(members) == 1 else "BOOTSTRAP_LIBSVMNUSVR"
    assert {member["model_type"] for member in members} == {kind}
    indices = [read_regression(member["model"], len(member["feature_names"]))
               for member in members]
    assert indices == list(range(indices[0], indices[0] + len(indices)))
    features, options, scaling, transform, clip, chroma = parts.pop()
    options = options.replace(";", ';"\n     "')
    return (f'{{"{name}", {features},\n     "{options}",\n     {scaling}, {indices[0]}, {len(indices)}, '
            f"{transform}, {number(clip)}, {number(chroma)}}}")


def number(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if value == int(value) else repr(value)


def table(declaration, items, width=100):
    """A braced table with as many items a line as fit."""
    print(f"inline constexpr {declaration} = {{")
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > width:
            if line.strip():
                print(line)
            line = "   "
        line += f" {item},"
    print(f"{line}\n}};\n")


def braces(values):
    return "{" + ", ".join(values) + "}"


def main():
    folder = pathlib.Path(sys.argv[1])
    models = [read_model(folder, name) for name in NAMES]
    print("// Written by scripts/generate_models.py.  Do not edit.\n//\n"
          "// The numbers are those of VMAF models trained by Netflix, Inc., copyright Netflix,\n"
          "// under the BSD-2-Clause-Patent licence: see LICENSE.netflix in this folder.\n")
    for features, pool in points.items():
        table(f"double kPoints{features}[{len(pool)}][{features}]", map(braces, pool))
    table(f"std::int16_t kRows[{len(rows)}]", map(str, rows))
    table(f"CoefficientException kExceptions[{len(exceptions)}]",
          (braces((str(row), value)) for row, value in exceptions))
    table(f"BuiltinRegression kRegressions[{len(regressions)}]",
          (braces(map(str, regression)) for regression in regressions))
    table(f"BuiltinScaling kScalings[{len(scalings)}]",
          (braces(braces(map(repr, values)) for values in scaling) for scaling in scalings))
    table(f"std::string_view kFeatureLists[{len(feature_lists)}][6]",
          (braces(f'"{feature}"' for feature in features) for features in feature_lists))
    table(f"BuiltinTransform kTransforms[{len(transforms)}]",
          (braces(map(number, transform)) for transform in transforms))
    table(f"BuiltinModel kModels[{len(models)}]", models)


if __name__ == "__main__":
    main()
