#pragma once
#include <optional>

#include "core/codec/fields/field_codec.hpp"
#include "core/deck/describe.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::io {

/// The key `compress` of a writer: largest deviation of a stored value from the computed one (exactly one of
/// `relative`, `absolute`, `psnr`; none for `lossless`), and the encoding.
struct Compression {
  enum class Type { automatic, interpolation, lorenzo, zfp, learned, lossless };
  enum class Fit { every_frame, first_frame };
  std::optional<double> relative, absolute, psnr;
  Type type = Type::automatic;
  std::optional<int> groups;
  std::optional<lowp::FitSettings::Network> network;
  std::optional<Fit> fit;
  std::optional<double> budget;  ///< s
  std::optional<bool> strict;

  static void describe(deck::Describe<Compression>& d);
  bool lossless() const { return type == Type::lossless; }
  lowp::LossyBound bound() const;
  lowp::FieldCoding coding() const;
};

/// Group::create_series() with `compress`: with `fit: first_frame` corrections are fitted to `first`, a row of the
/// series, and stored with the data set. `said` receives the fit report for the log.
Dataset create_series(Group& file, const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                      const Compression& compress, std::span<const double> first, std::string& said);

/// A data set (0, row_shape...) that grows along dimension 0; without `compress`, as made by Group::create_series().
/// With an error bound each chunk of the extent `chunk` (as many dimensions as the shape; empty: one row) is encoded on
/// its own, so a relative bound refers to its range, and each call writes full chunks. Rows of integers, or with chunks
/// of fewer than 256 values, are stored losslessly, by filters that every HDF5 has. InputError if this HDF5 lacks them,
/// and if a row with an error bound is 2 GiB or more.
Dataset create_series(Group& file, const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                      const std::optional<Compression>& compress, std::span<const std::int64_t> chunk = {});

/// The same for an array of fixed shape, every extent of which is a multiple of the chunk's.
Dataset allocate(Group& file, const std::string& name, DType type, std::span<const std::int64_t> shape,
                 std::span<const std::int64_t> chunk, const Compression& compress);

/// Error of the key `compress` of a writer that has no frame before it makes its file; empty: nothing.
std::string problem_without_first_frame(const std::optional<Compression>& compress);

/// A line for the log: "NAME: arrays of 12 MB compressed to 3 MB, 4 times smaller", and for learned corrections the
/// number of chunks that have them, and their saving over the plain codec at the same mean error.
std::string stored_line(const std::string& shown, const Group& file, std::span<const std::string> names);

}  // namespace cambium::io
