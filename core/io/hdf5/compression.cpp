#include "core/io/hdf5/compression.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/codec/zfp_codec.hpp"

namespace cambium::io {
namespace {

constexpr int most_groups = 32;  // their weights must fit into the header of a data set

std::string problem_of(const Compression& c) {
  if (c.relative.has_value() + c.absolute.has_value() + c.psnr.has_value() != 1)
    return "give one of 'relative', 'absolute' and 'psnr', for example {relative: 1e-4}";
  if (c.type == Compression::Type::zfp && !lowp::has_zfp())
    return "this build has no ZFP; install it (Debian: libzfp-dev), configure and build again, or leave the codec away";
  if (c.type == Compression::Type::learned) return "";
  for (const auto& [key, given] : {std::pair{"groups", c.groups.has_value()},
                                   {"network", c.network.has_value()},
                                   {"fit", c.fit.has_value()},
                                   {"budget", c.budget.has_value()},
                                   {"strict", c.strict.has_value()}})
    if (given) return fmt::format("'{}' is for learned corrections; add type: learned, or leave it away", key);
  return "";
}

}  // namespace

void Compression::describe(deck::Describe<Compression>& d) {
  d("relative", &Compression::relative,
    "largest error of a stored value, relative to the range (maximum minus minimum) of its field in its frame")
      .positive()
      .example("1e-4");
  d("absolute", &Compression::absolute, "largest absolute error of a stored value, in the unit of its field")
      .positive();
  d("psnr", &Compression::psnr,
    "minimum peak signal-to-noise ratio of a frame in decibels (20 log10 of range over root mean squared error); the "
    "error of a single value may be larger")
      .positive();
  d("type", &Compression::type,
    "codec: prediction by interpolation, by Lorenzo differences, or the better of both; ZFP, if this build has it; or "
    "learned corrections on top of the better of both")
      .options({{"automatic", Type::automatic},
                {"interpolation", Type::interpolation},
                {"lorenzo", Type::lorenzo},
                {"zfp", Type::zfp},
                {"learned", Type::learned}})
      .def(Type::automatic);
  d("groups", &Compression::groups,
    "learned codec: number of groups of values, each with a small network of its own; default 10")
      .range(1, most_groups);
  d("network", &Compression::network,
    "learned codec: network, linear by default, or a convolution with a hidden layer, used if it gains a decibel")
      .options(
          {{"linear", lowp::FitSettings::Network::linear}, {"convolution", lowp::FitSettings::Network::convolution}});
  d("fit", &Compression::fit,
    "learned codec: weights fitted for every frame and stored with it (default), or fitted once to the first frame")
      .options({{"every_frame", Fit::every_frame}, {"first_frame", Fit::first_frame}});
  d("budget", &Compression::budget, "learned codec: time limit of fitting one field; default 10 s")
      .unit("s")
      .positive();
  d("strict", &Compression::strict,
    "learned codec: true (default) enforces the error bound for every value; false allows corrections up to 1.75 "
    "bounds");
  d.check(problem_of);
}

lowp::LossyBound Compression::bound() const {
  using Kind = lowp::LossyBound::Kind;
  if (psnr) return {Kind::psnr, *psnr};
  return relative ? lowp::LossyBound{Kind::relative, *relative} : lowp::LossyBound{Kind::absolute, *absolute};
}

lowp::FieldCoding Compression::coding() const {
  using lowp::LossyPredictor;
  lowp::FieldCoding out;
  out.bound = bound();
  if (type == Type::interpolation) out.predictor = LossyPredictor::interpolation;
  if (type == Type::lorenzo) out.predictor = LossyPredictor::lorenzo;
  if (type == Type::zfp) out.predictor = LossyPredictor::zfp;
  if (type != Type::learned) return out;
  auto& learned = out.learned.emplace();
  learned.fit.groups = groups.value_or(learned.fit.groups);
  learned.fit.network = network.value_or(learned.fit.network);
  learned.fit.seconds = budget.value_or(learned.fit.seconds);
  learned.strict = strict.value_or(true);
  return out;
}

namespace {

template <class T>
std::optional<lowp::Enhancer> fitted(std::span<const double> first, std::span<const std::int64_t> shape,
                                     const lowp::FieldCoding& coding, std::string& said) {
  const std::vector<T> values(first.begin(), first.end());
  lowp::EnhancedReport report;
  auto out = lowp::enhancer_for<T>(values, shape, coding.bound, coding.predictor, coding.learned->fit, {}, report);
  said = report.plain_bytes > 0
             ? report.text()
             : "has a first frame that is stored exactly, to which nothing can be fitted: no frame is "
               "enhanced (fit: every_frame would fit each)";
  return out;
}

}  // namespace

Dataset create_series(Group& file, const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                      const Compression& compress, std::span<const double> first, std::string& said) {
  auto coding = compress.coding();
  if (!coding.learned || compress.fit.value_or(Compression::Fit::every_frame) == Compression::Fit::every_frame)
    return file.create_coded_series(name, type, row_shape, coding);
  const auto weights = type == DType::f32 ? fitted<float>(first, row_shape, coding, said)
                                          : fitted<double>(first, row_shape, coding, said);
  // Frames that nothing was learned for are stored plainly.
  if (!weights) coding.learned.reset();
  return file.create_coded_series(name, type, row_shape, coding, weights ? &*weights : nullptr);
}

}  // namespace cambium::io
