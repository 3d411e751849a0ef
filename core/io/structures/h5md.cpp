#include "core/io/structures/h5md.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/error.hpp"

namespace cambium::io {
namespace {

const std::string root = "/particles/trajectory/";

/// Full name of the current user, if the system provides it.
std::string author() {
  const char* user = std::getenv("USER");
  return user && *user ? user : "unknown";
}

void write_head(File& file, const Provenance& provenance) {
  Group head = file.create_group("/h5md");
  head.set_attribute("version", std::vector<int>{1, 1});
  file.create_group("/h5md/author").set_ascii_attribute("name", author());
  Group creator = file.create_group("/h5md/creator");
  creator.set_ascii_attribute("name", "Cambium");
  creator.set_ascii_attribute("version", provenance.version);
  Group units = file.create_group("/h5md/modules/units");
  units.set_attribute("version", std::vector<int>{1, 0});
  units.set_ascii_attribute("system", "metal");
  write_provenance(file, provenance);
}

void write_particles(File& file, const Frame& frame) {
  std::vector<std::string> symbols;
  std::vector<double> mass;
  for (const auto& species : frame.species) symbols.push_back(species.symbol);
  for (int type : frame.type) mass.push_back(frame.species.at(type).mass);
  file.write_enumeration(root + "species", frame.type, symbols);
  file.write(root + "id", frame.id);
  file.write(root + "mass", mass).set_attribute("unit", "g mol-1");
}

}  // namespace

std::vector<std::string> H5mdFile::series() const {
  std::vector<std::string> names{"position", "box/edges", "image"};
  if (content_.parts.velocity) names.push_back("velocity");
  if (content_.parts.force) names.push_back("force");
  return names;
}

void H5mdFile::make_series(const Frame& first) {
  const DType real = content_.single_precision ? DType::f32 : DType::f64;
  const std::int64_t rows[2] = {first.size(), 3}, matrix[2] = {3, 3}, component[3] = {1, first.size(), 1};
  const auto vectors = [&](const std::string& name) {
    return create_series(
        file_, root + name + "/value", real, rows, content_.compress,
        content_.compress ? std::span<const std::int64_t>(component) : std::span<const std::int64_t>());
  };
  Group box = file_.create_group(root + "box");
  box.set_attribute("dimension", 3);
  box.set_ascii_attribute("boundary", std::vector<std::string>(3, "periodic"));
  // A matrix, also for a rectangular cell: the specification allows both, MDAnalysis 2.4 loses a cell of three lengths.
  file_.create_series(root + "box/edges/value", DType::f64, matrix).set_attribute("unit", "Angstrom");
  vectors("position").set_attribute("unit", "Angstrom");
  create_series(file_, root + "image/value", DType::i32, rows, content_.compress);
  if (content_.parts.velocity) vectors("velocity").set_attribute("unit", "Angstrom ps-1");
  if (content_.parts.force) vectors("force").set_attribute("unit", "kJ mol-1 Angstrom-1");
  file_.create_series(root + "position/step", DType::i64, {});
  file_.create_series(root + "position/time", DType::f64, {}).set_attribute("unit", "ps");
  for (const auto& name : series()) {
    if (name == "position") continue;
    file_.link(root + "position/step", root + name + "/step");
    file_.link(root + "position/time", root + name + "/time");
  }
}

H5mdFile::H5mdFile(const std::string& path, const Content& content, const Provenance& provenance, const Frame& first)
    : content_(content), file_(File::create(path)) {
  write_head(file_, provenance);
  write_particles(file_, first);
  make_series(first);
  append(first);
}

H5mdFile::H5mdFile(const std::string& path, const Content& content, std::int64_t last_step)
    : content_(content), file_(File::append(path)) {
  for (const auto& name : series())
    if (!file_.exists(root + name + "/value"))
      throw InputError(fmt::format(
          "'{}' has no series '{}' and cannot be continued: resume with the deck that wrote it, or move the file away",
          path, name));
  const auto steps = file_.read<std::vector<std::int64_t>>(root + "position/step");
  const auto rows = std::upper_bound(steps.begin(), steps.end(), last_step) - steps.begin();
  for (const auto& name : series()) file_.dataset(root + name + "/value").resize(rows);
  file_.dataset(root + "position/step").resize(rows);
  file_.dataset(root + "position/time").resize(rows);
  file_.flush();
}

void H5mdFile::append(const Frame& frame) {
  const std::int64_t n = frame.size();
  Dataset position = file_.dataset(root + "position/value"), edges = file_.dataset(root + "box/edges/value");
  if (position.shape().at(1) != n)
    throw InputError(
        fmt::format("'{}' holds {} particles per frame but this run has {}: resume with the deck that wrote it, or "
                    "move the file away",
                    file_.file(), position.shape().at(1), n));
  std::vector<double> corner = frame.position;
  for (std::size_t k = 0; k < corner.size(); ++k) corner[k] -= frame.origin[k % 3];
  position.append(tensor_of(corner.data(), {n, 3}));
  if (edges.shape().size() == 3) {
    edges.append(tensor_of(frame.cell.data(), {3, 3}));
  } else {  // a trajectory that an earlier version began
    const double diagonal[3] = {frame.cell[0], frame.cell[4], frame.cell[8]};
    edges.append(tensor_of(diagonal, {3}));
  }
  file_.dataset(root + "image/value").append(tensor_of(frame.image.data(), {n, 3}));
  if (content_.parts.velocity) file_.dataset(root + "velocity/value").append(tensor_of(frame.velocity.data(), {n, 3}));
  if (content_.parts.force) {
    std::vector<double> force = frame.force;
    for (double& f : force) f *= kj_per_mol;
    file_.dataset(root + "force/value").append(tensor_of(force.data(), {n, 3}));
  }
  file_.dataset(root + "position/step").append(tensor_of(&frame.step, {}));
  file_.dataset(root + "position/time").append(tensor_of(&frame.time, {}));
  file_.flush();
}

std::string H5mdFile::stored_line(const std::string& shown) const {
  auto names = series();
  for (auto& name : names) name = root + name + "/value";
  return io::stored_line(shown, file_, names);
}

}  // namespace cambium::io
