"""A deck that trains a small Deep Potential in no time, and its only sample."""

PAIR = """2
Lattice="20 0 0 0 20 0 0 0 20" Properties=species:S:1:pos:R:3:forces:R:3 energy=-1
O 1 1 1 0 0 0.1
H 1 1 2 0 0 -0.1
"""
TRAIN = """
run: {name: train, directory: train}
plugins: [md, deepmd]
stages:
  - train:
      network: {type: deep_potential, rcut: 4.0, rcut_smth: 1.0, neuron: [4, 4], axis_neuron: 2, fitting: [4, 4]}
      dataset: {type: extxyz, files: [two.xyz]}
      batch: 1
      steps: 1
      learning_rate: {type: constant, start: 1e-3}
"""
