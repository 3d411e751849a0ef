#include "core/io/hdf5/compression.hpp"

namespace cambium::io {

void Compression::describe(deck::Describe<Compression>& d) {
  d("relative", &Compression::relative,
    "largest error of a stored number, as a share of the range (largest minus smallest value) of its field in its "
    "frame")
      .positive()
      .example("1e-4");
  d("absolute", &Compression::absolute, "largest error of a stored number, in the unit of its field").positive();
  d.check([](const Compression& c) {
    return c.relative.has_value() == c.absolute.has_value()
               ? "give one of 'relative' and 'absolute', for example {relative: 1e-4}"
               : "";
  });
}

lowp::LossyBound Compression::bound() const {
  using Kind = lowp::LossyBound::Kind;
  return relative ? lowp::LossyBound{Kind::relative, *relative} : lowp::LossyBound{Kind::absolute, *absolute};
}

}  // namespace cambium::io
