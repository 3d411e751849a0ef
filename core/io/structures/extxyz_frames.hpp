#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/io/structures/extxyz_columns.hpp"

namespace cambium::io {

/// A frame in the axes and units of its file.
struct ExtxyzFrame {
  ExtxyzComment comment;
  ExtxyzColumns columns;
  std::int64_t line = 0;                               ///< of the number of atoms, from 1
  std::optional<std::array<double, 9>> lattice;        ///< rows a, b, c
  std::array<bool, 3> periodic = {};                   ///< pbc; without it, whether there is a lattice
  std::optional<std::string> pbc;                      ///< the key's value, if present
  std::vector<std::string> species;                    ///< in the order of their first atom
  std::vector<int> type;                               ///< of each atom, an index of `species`
  std::vector<std::array<double, 3>> position, force;  ///< force: empty if absent or not requested
  std::vector<std::array<double, 3>> reference;        ///< forces of REF_forces, where `force` are of another column
  // Velocities and related columns, if requested and present:
  std::vector<std::array<double, 3>> velocity, momentum, unwrapped, travel;
  std::vector<double> mass;
  std::vector<double> charge;  ///< e
  std::vector<std::int64_t> id;
  std::int64_t held = 0;      ///< atoms that may not move freely, by ASE's column move_mask
  bool more_columns = false;  ///< lines of a frame without Properties have more than four words
  std::int64_t atoms() const { return static_cast<std::int64_t>(type.size()); }
};

/// Optional columns to read in addition to species and positions.
struct ExtxyzWanted {
  bool motion = false;  ///< velocities or momenta, masses, ids, images
  bool forces = false;
  std::vector<std::string> force;  ///< names of the column of forces; empty: those of extxyz_force_names()
};

/// Reader of extended XYZ, including plain XYZ: a comment line without keys is ignored, and so are columns after the
/// fourth.
class ExtxyzReader {
 public:
  /// Throws InputError when the file cannot be opened.
  ExtxyzReader(const std::string& path, ExtxyzWanted wanted) : file_(path), wanted_(std::move(wanted)) {}

  /// Reads the next frame; false at the end of the file. Throws InputError with file:line for anything that is wrong,
  /// and for a file that ends inside of a frame.
  bool next(ExtxyzFrame& frame);

  /// Reads a frame, counted from 0, or from the end (-1 is the last). InputError if there is none.
  ExtxyzFrame at(std::int64_t frame);

  const TextLines& file() const { return file_; }

 private:
  struct Place {
    TextLines::Mark mark;  ///< of the comment line
    std::int64_t atoms;    ///< negative for a frame that the file's end cuts short
  };
  std::int64_t atoms_here() const;
  std::vector<Place> scan(std::int64_t stop_after);
  void read(std::int64_t atoms, ExtxyzFrame& frame);
  void read_cell(ExtxyzFrame& frame) const;
  void read_atom(ExtxyzFrame& frame, std::vector<std::string_view>& words);
  std::string_view species_here(const ExtxyzFrame& frame, const std::vector<std::string_view>& words) const;

  TextLines file_;
  ExtxyzWanted wanted_;
};

}  // namespace cambium::io
