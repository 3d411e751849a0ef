#pragma once
#include <string>
#include <vector>

#include "plugins/mace/model/irreps.hpp"

namespace cambium::mace {

/// Linear map between features of the same degree: for each part and component m, out[w] += sum_u in[u] weight[u][w].
struct LinearMap {
  struct Part {
    int in = 0, out = 0;  ///< offsets of the blocks
    int in_channels = 0, out_channels = 0, components = 1;
    std::vector<double> weight;  ///< [in channel][out channel], with the normalisation
  };
  int inputs = 0, outputs = 0;
  std::vector<Part> parts;

  void apply(const double* in, double* out) const;             ///< adds
  void apply_transposed(const double* out, double* in) const;  ///< adds
};

/// Product of the features of a neighbour with the harmonics of the edge, one weight for each channel.
struct ConvolutionPath {
  struct Term {
    int in = 0, harmonic = 0, out = 0;  ///< component of the neighbour's block; l*l + l + m; component of the result
    double factor = 0.0;                ///< Wigner 3j times the path's normalisation
  };
  int in = 0, out = 0;  ///< offsets of the first component
  int channels = 0;     ///< also the stride between components of the input
  int out_stride = 0;   ///< stride between components of the result, whose block holds several paths
  int weight = 0;       ///< offset among the weights of an edge
  int in_components = 0, out_components = 0;
  std::vector<Term> terms;
};

/// Radial network: Bessel functions of the distance, smoothly cut off, followed by layers with the activation c SiLU.
struct RadialNetwork {
  struct Layer {
    int in = 0, out = 0;
    std::vector<double> weight;  ///< [in][out], normalised
  };
  std::vector<Layer> layers;
  int outputs() const { return layers.back().out; }
};

/// Polynomial in the components of the message of an atom, for each channel: symmetric powers up to the correlation.
struct Contraction {
  struct Term {
    int degree = 1;
    int component[3] = {0, 0, 0};  ///< of the message, ascending
    int out = 0;                   ///< offset of the component of the result
  };
  std::vector<Term> terms;
  std::vector<std::vector<double>> coefficients;  ///< of each species: [term][channel]
};

struct Readout {
  LinearMap first;
  LinearMap second;  ///< after the activation; without parts for a linear readout
  bool has_activation = false;
};

struct Interaction {
  bool residual = false;  ///< skip connection around the interaction, not after its message
  LinearMap up;           ///< maps node features to those sent to neighbours
  std::vector<ConvolutionPath> paths;
  RadialNetwork radial;
  LinearMap linear;             ///< of the sum over neighbours, divided by the mean number of neighbours
  std::vector<LinearMap> skip;  ///< of each species
  int channels = 0;             ///< of the message
  Contraction contraction;
  LinearMap product;
  Readout readout;
};

/// A MACE model (I. Batatia et al., NeurIPS 2022) as described by its archive. Energies in eV, lengths in Å.
struct MaceModel {
  std::string source;
  std::vector<std::string> symbols;            ///< of the species, in the model's order
  std::vector<double> atomic_energies;         ///< eV
  std::vector<std::vector<double>> embedding;  ///< of each species: features of a node before the first interaction
  double cutoff = 0.0;                         ///< Å
  double scale = 1.0, shift = 0.0;             ///< eV; shift eV
  std::vector<double> bessel;                  ///< frequencies, 1/Å
  double bessel_factor = 0.0;
  int envelope = 6;         ///< exponent p of the polynomial cut-off
  bool cut_inputs = true;   ///< the cut-off multiplies the radial functions, otherwise the weights
  double activation = 1.0;  ///< factor before SiLU
  int lmax = 0;             ///< of the harmonics
  std::vector<Interaction> interactions;

  /// InputError for a file that is no MACE model, or that has unsupported parts, which it names.
  static MaceModel load(const std::string& path);
  /// Floating-point operations of one atom with `neighbours` neighbours within the cut-off: energy and forces.
  double operations(double neighbours) const;
};

}  // namespace cambium::mace
