#pragma once
#include <optional>

#include "core/codec/fields/field_codec.hpp"
#include "core/deck/describe.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::io {

/// The key `compress` of a writer of fields: how far a stored number may lie from the computed one (exactly one of
/// `relative`, `absolute`, `psnr`), and how it is encoded.
struct Compression {
  enum class Type { automatic, interpolation, lorenzo, zfp, learned };
  enum class Fit { every_frame, first_frame };
  std::optional<double> relative, absolute, psnr;
  Type type = Type::automatic;
  std::optional<int> groups;
  std::optional<lowp::FitSettings::Network> network;
  std::optional<Fit> fit;
  std::optional<double> budget;  ///< s
  std::optional<bool> strict;

  static void describe(deck::Describe<Compression>& d);
  lowp::LossyBound bound() const;
  lowp::FieldCoding coding() const;
};

/// Group::create_series() as `compress` asks: with `fit: first_frame` corrections are fitted to `first`, a row of the
/// series, and stored with the data set. What was fitted, for the log, goes to `said`.
Dataset create_series(Group& file, const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                      const Compression& compress, std::span<const double> first, std::string& said);

}  // namespace cambium::io
