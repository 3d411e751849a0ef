#pragma once
#include <optional>

#include "core/codec/fields/field_codec.hpp"
#include "core/deck/describe.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::io {

/// The key `compress` of a writer: how far a stored number may lie from the computed one (exactly one of `relative`,
/// `absolute`, `psnr`; none for `lossless`), and how it is encoded.
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

/// Group::create_series() as `compress` asks: with `fit: first_frame` corrections are fitted to `first`, a row of the
/// series, and stored with the data set. What was fitted, for the log, goes to `said`.
Dataset create_series(Group& file, const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                      const Compression& compress, std::span<const double> first, std::string& said);

/// A data set (0, row_shape...) that grows along dimension 0; without `compress`, as Group::create_series() makes it.
/// Within a bound of error each chunk of the extent `chunk` (as long as the whole shape; empty: one row) is encoded on
/// its own, so that a relative bound refers to its range, and is written whole by each call. Rows of whole numbers, or
/// with chunks of fewer than 256 numbers, are stored without loss, by filters that every HDF5 has. InputError where
/// this HDF5 has them not, and when a row within a bound is 2 GiB or more.
Dataset create_series(Group& file, const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                      const std::optional<Compression>& compress, std::span<const std::int64_t> chunk = {});

/// The same for an array of fixed shape, every extent of which is a multiple of the chunk's.
Dataset allocate(Group& file, const std::string& name, DType type, std::span<const std::int64_t> shape,
                 std::span<const std::int64_t> chunk, const Compression& compress);

/// Error of the key `compress` of a writer that has no frame before it makes its file; empty: nothing.
std::string problem_without_first_frame(const std::optional<Compression>& compress);

/// A line for the log: "NAME: arrays of 12 MB compressed to 3 MB, 4 times smaller", and of learned corrections, in how
/// many chunks they are, and what they save over the plain codec at the same mean error.
std::string stored_line(const std::string& shown, const Group& file, std::span<const std::string> names);

}  // namespace cambium::io
