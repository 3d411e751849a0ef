#include "core/io/hdf5/compression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/base/error.hpp"
#include "core/codec/zfp_codec.hpp"
#include "core/io/hdf5/filter.hpp"
#include "core/io/hdf5/h5_internal.hpp"

namespace cambium::io {
namespace {

constexpr int most_groups = 32;  // their weights must fit into the header of a data set

std::string problem_of(const Compression& c) {
  if (c.lossless())
    for (const auto& [key, given] : {std::pair{"relative", c.relative.has_value()},
                                     {"absolute", c.absolute.has_value()},
                                     {"psnr", c.psnr.has_value()}})
      if (given) return fmt::format("'{}' is an error bound, and type: lossless has none; remove one of them", key);
  if (!c.lossless() && c.relative.has_value() + c.absolute.has_value() + c.psnr.has_value() != 1)
    return "give one of 'relative', 'absolute' and 'psnr', for example {relative: 1e-4}, or {type: lossless}";
  if (c.type == Compression::Type::zfp && !lowp::has_zfp())
    return "this build has no ZFP; install it (Debian: libzfp-dev), configure and build again, or remove the codec";
  if (c.type == Compression::Type::learned) return "";
  for (const auto& [key, given] : {std::pair{"groups", c.groups.has_value()},
                                   {"network", c.network.has_value()},
                                   {"fit", c.fit.has_value()},
                                   {"budget", c.budget.has_value()},
                                   {"strict", c.strict.has_value()}})
    if (given) return fmt::format("'{}' is for learned corrections; add type: learned, or remove it", key);
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
    "codec: prediction by interpolation, by Lorenzo differences, or the better of both; ZFP, if this build has it; "
    "learned corrections on top of the better of both; or lossless, by the filters of every HDF5 library")
      .options({{"automatic", Type::automatic},
                {"interpolation", Type::interpolation},
                {"lorenzo", Type::lorenzo},
                {"zfp", Type::zfp},
                {"learned", Type::learned},
                {"lossless", Type::lossless}})
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
  if (compress.lossless()) return create_series(file, name, type, row_shape, std::optional(compress));
  auto coding = compress.coding();
  if (!coding.learned || compress.fit.value_or(Compression::Fit::every_frame) == Compression::Fit::every_frame)
    return file.create_coded_series(name, type, row_shape, coding);
  const auto weights = type == DType::f32 ? fitted<float>(first, row_shape, coding, said)
                                          : fitted<double>(first, row_shape, coding, said);
  // Frames that nothing was learned for are stored plainly.
  if (!weights) coding.learned.reset();
  return file.create_coded_series(name, type, row_shape, coding, weights ? &*weights : nullptr);
}

void detail::set_lossless(const Handle& properties, const std::string& file, const std::string& name) {
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0 || H5Zfilter_avail(H5Z_FILTER_SHUFFLE) <= 0)
    throw InputError(
        fmt::format("'{}' in '{}': this HDF5 was built without the filters shuffle and deflate (zlib); build it with "
                    "them, or leave out 'compress'",
                    name, file));
  H5Pset_shuffle(properties.id());
  constexpr unsigned level = 4;
  H5Pset_deflate(properties.id(), level);
}

namespace {

constexpr std::int64_t fewest_coded = 256;  // per chunk; a stream of fewer values is longer than the values themselves

/// Exposes protected members of Group.
struct Maker : Group {
  explicit Maker(const Group& group) : Group(group) {}
  using Group::make;
};

std::int64_t product(std::span<const std::int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

bool is_coded(DType type, std::span<const std::int64_t> chunk, const Compression& compress) {
  return !compress.lossless() && (type == DType::f32 || type == DType::f64) && product(chunk) >= fewest_coded;
}

Dataset make_stored(Group& file, const std::string& name, DType type, const Handle& space,
                    std::span<const std::int64_t> chunk, const Compression& compress, bool coded) {
  const Handle properties(H5Pcreate(H5P_DATASET_CREATE));
  const std::vector<hsize_t> part(chunk.begin(), chunk.end());
  H5Pset_chunk(properties.id(), static_cast<int>(part.size()), part.data());
  if (!coded) {
    detail::set_lossless(properties, file.file(), name);
  } else {
    const auto values =
        lossy_filter_values(compress.coding(), nullptr, static_cast<int>(size_of(type)), {chunk.begin(), chunk.end()});
    H5Pset_filter(properties.id(), lossy_filter_id, H5Z_FLAG_MANDATORY, values.size(), values.data());
  }
  return Maker(file).make(name, detail::type_of(type), space, properties);
}

}  // namespace

Dataset create_series(Group& file, const std::string& name, DType type, std::span<const std::int64_t> row_shape,
                      const std::optional<Compression>& compress, std::span<const std::int64_t> chunk) {
  if (!compress) return file.create_series(name, type, row_shape, chunk.empty() ? 1 : chunk[0]);
  const detail::Entered entered;
  std::vector<std::int64_t> part{1};
  for (const auto n : row_shape) part.push_back(std::max<std::int64_t>(n, 1));
  if (!chunk.empty()) part.assign(chunk.begin(), chunk.end());
  const bool coded = is_coded(type, part, *compress);
  if (chunk.empty() && coded) return file.create_coded_series(name, type, row_shape, compress->coding());
  if (!coded) part = detail::series_chunk(type, row_shape, part[0]);
  std::vector<hsize_t> extent{0}, limit{H5S_UNLIMITED};
  for (const auto n : row_shape) extent.push_back(n), limit.push_back(n);
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), limit.data()));
  return make_stored(file, name, type, space, part, *compress, coded);
}

Dataset allocate(Group& file, const std::string& name, DType type, std::span<const std::int64_t> shape,
                 std::span<const std::int64_t> chunk, const Compression& compress) {
  const detail::Entered entered;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k] % chunk[k] != 0) throw InternalError(fmt::format("'{}': a chunk would be cut by the edge", name));
  const std::vector<hsize_t> extent(shape.begin(), shape.end());
  const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
  return make_stored(file, name, type, space, chunk, compress, is_coded(type, chunk, compress));
}

std::string problem_without_first_frame(const std::optional<Compression>& compress) {
  return compress && compress->fit == Compression::Fit::first_frame
             ? "'compress.fit: first_frame' is for output 'fields' of convection; take every_frame"
             : "";
}

namespace {

/// Chunks of a data set that were encoded with learned corrections enabled: number, number of those that have them, the
/// bytes of these, and of the plain streams they were compared with.
struct Corrected {
  std::int64_t chunks = 0, corrected = 0;
  double bytes = 0.0, plain_bytes = 0.0;
};

struct Opened : Dataset {
  explicit Opened(const Dataset& set) : Dataset(set) {}
  hid_t id() const { return handle_.id(); }
};

bool asks_for_corrections(hid_t set) {
  const Handle properties(H5Dget_create_plist(set));
  constexpr std::size_t most_values = 256;  // HDF5 takes more for an error
  std::vector<unsigned> values(most_values);
  std::size_t n = values.size();
  unsigned flags = 0, configuration = 0;
  const bool there = H5Pget_filter_by_id2(properties.id(), lossy_filter_id, &flags, &n, values.data(), 0, nullptr,
                                          &configuration) >= 0;
  if (!there) H5Eclear2(H5E_DEFAULT);
  return there && io::asks_for_corrections(std::min(n, most_values), values.data());
}

void count_corrected([[maybe_unused]] const Dataset& dataset, [[maybe_unused]] Corrected& out) {
#if H5_VERSION_GE(1, 10, 5)
  const detail::Entered entered;
  const hid_t set = Opened(dataset).id();
  if (!asks_for_corrections(set)) return;
  const Handle space(H5Dget_space(set));
  hsize_t chunks = 0;
  if (H5Dget_num_chunks(set, space.id(), &chunks) < 0) return H5Eclear2(H5E_DEFAULT), void();
  for (hsize_t k = 0; k < chunks; ++k) {
    hsize_t offset[H5S_MAX_RANK], bytes = 0;
    haddr_t address = 0;
    unsigned mask = 0;
    if (H5Dget_chunk_info(set, space.id(), k, offset, &mask, &address, &bytes) < 0) continue;
    std::vector<std::byte> stream(bytes);
    std::uint32_t left_out = 0;
    if (H5Dread_chunk(set, H5P_DEFAULT, offset, &left_out, stream.data()) < 0) continue;
    ++out.chunks;
    if (!lowp::is_enhanced(stream)) continue;
    ++out.corrected;
    out.bytes += static_cast<double>(stream.size());
    out.plain_bytes += static_cast<double>(lowp::enhanced_info(stream).rival_bytes);
  }
#endif
}

std::string corrected_text(const Corrected& found) {
  if (found.chunks == 0) return "";
  if (found.corrected == 0) return fmt::format("; learned corrections gain nothing in any of {} chunks", found.chunks);
  return fmt::format(
      "; learned corrections in {} of {} chunks, for which the plain codec needs {:.3g} times the bytes "
      "at the same error",
      found.corrected, found.chunks, found.plain_bytes / found.bytes);
}

}  // namespace

std::string stored_line(const std::string& shown, const Group& file, std::span<const std::string> names) {
  double plain = 0.0, stored = 0.0;
  Corrected corrected;
  for (const auto& name : names) {
    if (!file.exists(name)) continue;
    const auto set = file.dataset(name);
    plain += static_cast<double>(set.elements() * size_of(set.dtype()));
    stored += static_cast<double>(set.stored_bytes());
    count_corrected(set, corrected);
  }
  if (!(stored > 0.0)) return fmt::format("{}: nothing to compress", shown);
  return fmt::format("{}: arrays of {:.3g} MB compressed to {:.3g} MB, {:.3g} times smaller{}", shown, plain / 1e6,
                     stored / 1e6, plain / stored, corrected_text(corrected));
}

}  // namespace cambium::io
