#!/usr/bin/env python3
"""Compares the penguins of datasets/penguins.csv, species by species, and writes what comes out below results/.

An agent runs it in a directory that holds datasets/ and results/. The standard library is all it needs.
"""

import csv
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean, linear_regression, stdev

MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def read_penguins(path):
    """The penguins of which every measure was taken."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if all(row[measure] != "NA" for measure in MEASURES)]
    return [{**row, **{measure: float(row[measure]) for measure in MEASURES}} for row in rows]


def summary(penguins):
    flippers = [penguin["flipper_length_mm"] for penguin in penguins]
    masses = [penguin["body_mass_g"] for penguin in penguins]
    return {
        "penguins": len(penguins),
        "mean": {measure: round(fmean(penguin[measure] for penguin in penguins), 1) for measure in MEASURES},
        "body_mass_deviation_g": round(stdev(masses), 1),
        "body_mass_g_per_flipper_mm": round(linear_regression(flippers, masses).slope, 1),
    }


def main():
    by_species = defaultdict(list)
    for penguin in read_penguins(Path("datasets/penguins.csv")):
        by_species[penguin["species"]].append(penguin)
    results = Path("results")
    results.mkdir(exist_ok=True)
    summaries = {species: summary(penguins) for species, penguins in sorted(by_species.items())}
    (results / "penguin-sizes.json").write_text(json.dumps(summaries, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
