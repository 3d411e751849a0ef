#pragma once
#include <optional>

#include "core/codec/codec.hpp"
#include "core/deck/describe.hpp"

namespace cambium::io {

/// The key `compress` of a writer of fields: how far a stored number may lie from the computed one. Exactly one of the
/// two.
struct Compression {
  std::optional<double> relative, absolute;
  static void describe(deck::Describe<Compression>& d);
  lowp::LossyBound bound() const;
};

}  // namespace cambium::io
