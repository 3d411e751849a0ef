#pragma once
#include <cstddef>
#include <vector>

#include "plugins/deepmd/tasks/single_point.hpp"

// Layout of a result on its way between ranks and in journals: configurations and labels as rows of numbers.
namespace cambium::deepmd {

/// Numbers of a sampled configuration: cell, its rotation, positions, deviation of a committee.
std::size_t sampled_width(std::size_t atoms);
void pack(const Configuration& configuration, double deviation, double* row);
/// Without a deviation.
std::vector<double> row_of(const Configuration& configuration);
/// Species and types are those of `start`.
Configuration unpacked(const double* row, const Configuration& start);

/// Numbers of a label: energy, virial, forces, squared error of the forces of what explored.
std::size_t label_width(std::size_t atoms);
void pack(const LabelledFrame& label, double error, double* row);
LabelledFrame labelled(const Configuration& configuration, const double* row);

/// Sum of the squares of what forces of two labels differ by, (eV/Å)^2.
double force_squares(const LabelledFrame& a, const LabelledFrame& b);

/// For numbers that must not change when a killed stage goes on.
std::size_t hash_of(const std::vector<double>& numbers);

}  // namespace cambium::deepmd
