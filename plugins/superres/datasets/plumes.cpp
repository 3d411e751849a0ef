#include "plugins/superres/datasets/plumes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"

namespace cambium::superres {

void Plumes::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::data, "HDF5 files of b, w and the fields below by (t, x, z), one for each initial state")
      .example("[\"{run}/simulate/fields.h5\"]");
  d("fields", &Params::fields, "fields available to a network, of p, b, u, w").def({"b"});
  d("frames", &Params::frames, "frames to use, from the end").at_least(1).def(100);
  d("every", &Params::every, "sampling interval: one of this many is used").at_least(1).def(1);
  d("periodic", &Params::periodic,
    "true if x is periodic; default: as in the file or, if it does not state it, detected from the values at both "
    "ends");
  d("plume", &Params::plume, "definition of a plume");
  d.check([](const Params& p) -> std::string {
    if (p.data.empty()) return "'data' names no file";
    if (p.fields.empty()) return "'fields' names none; a network needs at least b";
    for (const auto& name : p.fields)
      if (name != "p" && name != "b" && name != "u" && name != "w")
        return fmt::format("fields: there is no '{}'; name p, b, u or w", name);
    return {};
  });
}

void Plumes::open(Context& context) {
  images_.clear();
  for (const auto& path : params_.data) add(path, context);
  std::array<double, plume_classes> points{};
  for (const auto& image : images_)
    for (const auto c : image->classes) points[c] += 1.0;
  const double all = static_cast<double>(images_.size()) * static_cast<double>(nx_ * nz_);
  context.log.info(fmt::format("{} images of {} x {} points (x, z); warm plumes cover {:.2f} %, cold ones {:.2f} %",
                               images_.size(), nx_, nz_, 100.0 * points[1] / all, 100.0 * points[2] / all));
}

void Plumes::add(const std::string& path, Context&) {
  std::vector<std::string> names{"b", "w"};
  for (const auto& name : params_.fields)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  const FieldData data = read_fields(path, names, static_cast<std::size_t>(params_.frames), params_.periodic);
  const auto nx = static_cast<std::int64_t>(data.nx()), nz = static_cast<std::int64_t>(data.nz());
  if (!images_.empty() && (nx != nx_ || nz != nz_))
    throw KeyError("plumes.data.size", "data",
                   fmt::format("'{}' has {} x {} points (x, z), '{}' {} x {}; use files of one grid", path, nx, nz,
                               params_.data.front(), nx_, nz_));
  nx_ = nx;
  nz_ = nz;
  const auto classes = plumes_of(data, params_.plume);
  const auto points = static_cast<std::size_t>(nx * nz);
  for (std::size_t t = 0; t < data.axis[0].size(); t += static_cast<std::size_t>(params_.every)) {
    auto image = std::make_shared<Image>();
    const auto part = [&](const auto& all) {
      return std::pair(all.begin() + static_cast<std::ptrdiff_t>(t * points),
                       all.begin() + static_cast<std::ptrdiff_t>((t + 1) * points));
    };
    for (const auto& name : params_.fields) {
      const auto [first, last] = part(data.values[std::find(names.begin(), names.end(), name) - names.begin()]);
      image->fields.emplace_back(first, last);
    }
    const auto [first, last] = part(classes);
    image->classes.assign(first, last);
    image->wraps = data.period > 0.0 ? 1.0 : 0.0;
    images_.push_back(std::move(image));
  }
}

std::vector<train::FieldInfo> Plumes::fields() const {
  std::vector<train::FieldInfo> out;
  for (const auto& name : params_.fields) out.push_back({name, "", {nx_, nz_}, DType::f32});
  out.push_back({"classes", "", {nx_, nz_}, DType::u8});
  out.push_back({"wraps", "", {1}, DType::f64});
  return out;
}

std::vector<train::SamplePtr> Plumes::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) {
    const auto& image = images_[id];
    auto sample = std::make_shared<train::Sample>();
    sample->id = id;
    for (std::size_t f = 0; f < params_.fields.size(); ++f)
      sample->fields[params_.fields[f]] = io::tensor_of(image->fields[f].data(), {nx_, nz_});
    sample->fields["classes"] = io::tensor_of(image->classes.data(), {nx_, nz_});
    sample->fields["wraps"] = io::tensor_of(&image->wraps, {1});
    sample->bytes = nx_ * nz_ * (4 * std::ssize(params_.fields) + 1);
    sample->storage = image;
    out.push_back(std::move(sample));
  }
  return out;
}

PlumeImage Plumes::image(std::int64_t id) const {
  const auto& image = *images_[id];
  PlumeImage out{nx_, nz_, image.wraps != 0.0, {}, image.classes};
  const auto b = std::find(params_.fields.begin(), params_.fields.end(), "b");
  if (b != params_.fields.end()) out.temperature = image.fields[b - params_.fields.begin()];
  return out;
}

std::vector<Citation> Plumes::citations() const {
  return {
      {"huang2013",
       R"(@article{huang2013, author={Huang, S.-D. and Kaczorowski, M. and Ni, R. and Xia, K.-Q.}, title={Confinement-induced heat-transport enhancement in turbulent thermal convection}, journal={Phys. Rev. Lett.}, volume={111}, pages={104501}, year={2013}})"}};
}

}  // namespace cambium::superres
