#pragma once
#include <string>
#include <vector>

#include "core/plugin/command.hpp"

namespace cambium::submatrix {

struct DftbInput {
  std::string deck;
  std::string geometry;  ///< text of a gen file that the input holds itself; empty: the deck names the input's file
};

/// Deck for an input of DFTB+ (dftb_in.hsd): DFTB Hamiltonians, with the defaults of DFTB+; `geometry` is the file that
/// the deck names for a geometry inside of the input. Keys that write other output or choose a method of solution are
/// listed in comments at the top. InputError with the names and lines of all keys that would change the results and are
/// not converted.
DftbInput deck_of_dftb_input(const std::string& path, const std::string& geometry);

/// The same as files: writes the deck to `output` and a geometry inside of the input beside it; with an empty `output`
/// returns the deck.
std::string convert_dftb_input(const std::string& input, const std::string& output);

/// `cambium submatrix convert-input`.
std::vector<Command> dftb_commands();

}  // namespace cambium::submatrix
