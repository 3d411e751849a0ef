#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cambium::io {

/// Reference and predicted values of a quantity, the data of a parity plot. A row belongs to an item (the frame, or the
/// frame and the atom) and has one value per component.
struct ParityQuantity {
  std::string name;                          ///< "energy", "force"; part of file names
  std::string unit;                          ///< of both sides, such as "eV/atom"
  std::string doc;                           ///< a sentence
  std::vector<std::string> places;           ///< names of the columns that identify a row: {"frame", "atom"}
  std::vector<std::string> components;       ///< {"x", "y", "z"}; empty for a single number
  std::vector<std::int64_t> place;           ///< indices, rows x places, from 0
  std::vector<double> reference, predicted;  ///< rows x components

  std::size_t width() const { return components.empty() ? 1 : components.size(); }
  std::size_t rows() const { return reference.size() / width(); }
};

/// Errors over all values of a quantity; negative if there are none.
struct ParityErrors {
  double rmse = -1.0, mae = -1.0, largest = -1.0;
};
ParityErrors errors_of(const ParityQuantity& quantity);

/// Writes <folder>/<stem>_<name>.csv for every quantity that has rows (columns: indices, reference and predicted of
/// each component, with units), and <folder>/<stem>.h5 with a group for each: the same columns as arrays, `reference`
/// and `predicted` as (row, component), and rmse and mae as attributes. The folder must exist. On one rank; returns the
/// file names.
std::vector<std::string> write_parity(const std::string& folder, const std::string& stem,
                                      std::span<const ParityQuantity> quantities);

}  // namespace cambium::io
