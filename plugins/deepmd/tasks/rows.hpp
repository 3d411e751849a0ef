#pragma once
#include <cstddef>
#include <vector>

#include "plugins/deepmd/tasks/single_point.hpp"

// Layout of results in messages between ranks and in journals: configurations and labels as rows of values.
namespace cambium::deepmd {

/// Number of values of a sampled configuration: cell, its rotation, positions, deviation of a committee.
std::size_t sampled_width(std::size_t atoms);
void pack(const Configuration& configuration, double deviation, double* row);
/// Without a deviation.
std::vector<double> row_of(const Configuration& configuration);
/// Unpacks a configuration with the species and types of `start`.
Configuration unpacked(const double* row, const Configuration& start);

/// Number of values of a label: energy, virial, forces, squared error of the forces of the exploring potential.
std::size_t label_width(std::size_t atoms);
void pack(const LabelledFrame& label, double error, double* row);
LabelledFrame labelled(const Configuration& configuration, const double* row);

/// Sum of the squared differences between the forces of two labels, (eV/Å)^2.
double force_squares(const LabelledFrame& a, const LabelledFrame& b);

/// Hash of values that must not change when a killed stage is resumed.
std::size_t hash_of(const std::vector<double>& numbers);

}  // namespace cambium::deepmd
