#include "plugins/deepmd/data/extxyz_frames.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "core/io/structures/extxyz_frames.hpp"
#include "core/particles/right_handed.hpp"

namespace cambium::deepmd {

namespace {

using io::ExtxyzComment;
using io::ExtxyzRole;
using Vector = std::array<double, 3>;

/// Distance between periodic images beyond the interaction range (Å).
constexpr double vacuum = 40.0;

double product(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector of_length_one(Vector a) {
  const double length = std::sqrt(product(a, a));
  for (double& x : a) x /= length;
  return a;
}

double volume_of(const std::array<Vector, 3>& rows) { return product(rows[0], cross(rows[1], rows[2])); }

/// Names to look up for a label: the given one, or, if that is the default, the names that common programs write.
std::vector<std::string> names_of(const std::string& given, const std::vector<std::string>& common) {
  return given == common.front() ? common : std::vector<std::string>{given};
}

/// Converts a frame of the file into a frame with labels.
class LabelledFrameOf {
 public:
  LabelledFrameOf(const io::TextLines& file, const io::ExtxyzFrame& read, const ExtxyzLabels& labels)
      : file_(file), read_(read), labels_(labels) {}

  ExtxyzFrame make() {
    out_.species = read_.species;
    out_.types = read_.type;
    out_.frame.x = read_.position;
    for (auto& x : out_.frame.x)
      for (double& c : x) c *= labels_.length_factor;
    out_.frame.force = read_.force;
    for (auto& f : out_.frame.force)
      for (double& c : f) c *= labels_.energy_factor / labels_.length_factor;
    if (!read_.reference.empty() && read_.reference != read_.force)
      out_.rivals.push_back(
          {"force", read_.columns[ExtxyzRole::force].name, read_.columns[ExtxyzRole::reference].name});
    read_cell();
    read_labels();
    turn();
    name_keys();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& text) const { file_.fail_at(read_.line + 1, text); }

  void read_cell() {
    const auto periodic = std::count(read_.periodic.begin(), read_.periodic.end(), true);
    if (periodic == 0) return;
    if (!read_.lattice)
      fail(
          fmt::format("pbc=\"{}\", but no Lattice=\"ax ay az bx by bz cx cy cz\": give the cell, or pbc=\"F F F\" "
                      "for molecules",
                      *read_.pbc));
    std::array<Vector, 3> rows{};
    for (std::size_t k = 0; k < 9; ++k) rows[k / 3][k % 3] = labels_.length_factor * (*read_.lattice)[k];
    volume_ = std::abs(volume_of(rows));
    if (periodic < 3) widen(rows);
    for (std::size_t k = 0; k < 3; ++k) out_.frame.open[k] = !read_.periodic[k];
    double vectors[3][3], q[3][3];
    for (std::size_t k = 0; k < 9; ++k) vectors[k / 3][k % 3] = rows[k / 3][k % 3];
    make_right_handed(vectors);
    try {
      out_.frame.box = Box::from_vectors(vectors, q);
      out_.frame.axes = GivenAxes(q);
    } catch (const InputError& error) {
      fail(error.what());
    }
  }

  /// Replaces the vectors of the non-periodic directions, which are arbitrary in the file, by vectors orthogonal to the
  /// periodic ones that enclose the atoms and the vacuum.
  void widen(std::array<Vector, 3>& rows) const {
    const auto& periodic = read_.periodic;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
      if (!periodic[k] && periodic[i] && periodic[j]) rows[k] = spanning(cross(rows[i], rows[j]));
      if (periodic[k] && !periodic[i] && !periodic[j]) {
        const Vector& a = rows[k];
        const bool along_x = std::abs(a[0]) < std::abs(a[1]) || std::abs(a[0]) < std::abs(a[2]);
        const Vector other = along_x ? Vector{1, 0, 0} : Vector{0, 1, 0};
        const Vector b = cross(a, other);
        rows[i] = spanning(b);
        rows[j] = spanning(cross(a, b));
      }
    }
  }

  /// Vector along a direction, longer than the extent of the atoms by the vacuum.
  Vector spanning(const Vector& direction) const {
    if (!(product(direction, direction) > 0.0)) fail("the periodic cell vectors are parallel or zero");
    const Vector n = of_length_one(direction);
    double low = 1e300, high = -1e300;
    for (const auto& x : out_.frame.x) {
      low = std::min(low, product(x, n));
      high = std::max(high, product(x, n));
    }
    return {n[0] * (high - low + vacuum), n[1] * (high - low + vacuum), n[2] * (high - low + vacuum)};
  }

  /// Values of a label, from the first of its names that the frame has.
  std::vector<double> label(const std::string& given, const std::vector<std::string>& common) {
    const auto* pair = io::first_of(file_, read_.comment, names_of(given, common));
    if (!pair) return {};
    used_.push_back(pair->key);
    if (pair->key != given) out_.read_from.push_back(fmt::format("{} is read from {}", common.front(), pair->key));
    auto numbers = ExtxyzComment::numbers(file_, *pair);
    std::vector<std::string> references;
    for (const auto& name : names_of(given, common))
      if (name.starts_with("REF_")) references.push_back(name);
    const auto* other = io::first_of(file_, read_.comment, references);
    if (other && other != pair && ExtxyzComment::numbers(file_, *other) != numbers)
      out_.rivals.push_back({common.front(), pair->key, other->key});
    return numbers;
  }

  void read_labels() {
    const auto energy = label(labels_.energy, io::extxyz_energy_names());
    if (energy.size() > 1) fail(fmt::format("{} holds {} values, not 1", used_.back(), energy.size()));
    if (!energy.empty()) out_.frame.energy = energy[0] * labels_.energy_factor;
    std::vector<double> w = label(labels_.virial, io::extxyz_virial_names());
    double factor = labels_.energy_factor;
    if (w.empty() && out_.frame.box) {
      w = label(labels_.stress, io::extxyz_stress_names());
      if (!w.empty() && volume_ == 0.0)
        fail(fmt::format("{}: the cell has no volume, by which a stress is a virial; give the virial", used_.back()));
      factor *= -volume_ / std::pow(labels_.length_factor, 3);
    }
    if (w.size() == 6) w = {w[0], w[5], w[4], w[5], w[1], w[3], w[4], w[3], w[2]};
    if (w.empty()) return;
    if (w.size() != 9) fail(fmt::format("{} holds {} values, not 9 or 6", used_.back(), w.size()));
    for (double& x : w) x *= factor;
    out_.frame.virial = w;
  }

  /// Rotates everything into the axes of Box.
  void turn() {
    auto& f = out_.frame;
    const auto& q = f.axes.q;
    if (!f.virial.empty()) {
      const std::vector<double> w = f.virial;
      f.virial.assign(9, 0.0);
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t s = 0; s < 3; ++s) f.virial[3 * a + b] += q[r][a] * w[3 * r + s] * q[s][b];
    }
    for (auto* rows : {&f.x, &f.force})
      for (auto& row : *rows) row = f.axes.inside(row.data());
  }

  /// Content of the frame in addition to its cell and its atoms, and the column of the forces.
  void name_keys() {
    for (const auto& [key, value] : read_.comment.pairs()) {
      const bool ours = std::any_of(used_.begin(), used_.end(), [&](const auto& u) { return u == key; });
      const auto is = [&](const char* word) { return io::same_letters(key, word); };
      if (!ours && !is("Lattice") && !is("Properties") && !is("pbc")) out_.unread.push_back(key);
    }
    std::sort(out_.unread.begin(), out_.unread.end());
    const auto& columns = read_.columns;
    const std::string& force = columns[ExtxyzRole::force].name;
    if (!read_.force.empty() && force != labels_.force)
      out_.read_from.push_back("forces are read from column " + force);
    for (const auto& name : columns.names()) {
      const bool read = name == columns[ExtxyzRole::species].name || name == columns[ExtxyzRole::number].name ||
                        name == columns[ExtxyzRole::position].name || (!read_.force.empty() && name == force);
      if (!read) out_.unread.push_back("column " + name);
    }
  }

  const io::TextLines& file_;
  const io::ExtxyzFrame& read_;
  const ExtxyzLabels& labels_;
  std::vector<std::string> used_;  ///< keys of labels
  double volume_ = 0.0;            ///< of the file's cell, Å^3
  ExtxyzFrame out_;
};

}  // namespace

std::vector<ExtxyzFrame> read_extxyz_frames(const std::string& path, const ExtxyzLabels& labels) {
  const bool common = labels.force == io::extxyz_force_names().front();
  io::ExtxyzReader reader(
      path,
      {.motion = false, .forces = true, .force = common ? std::vector<std::string>{} : std::vector{labels.force}});
  std::vector<ExtxyzFrame> out;
  for (io::ExtxyzFrame frame; reader.next(frame);) out.push_back(LabelledFrameOf(reader.file(), frame, labels).make());
  return out;
}

std::vector<std::string> label_remarks(const std::string& path, const std::vector<ExtxyzFrame>& frames) {
  std::map<std::string, std::size_t> count;
  for (const ExtxyzFrame& frame : frames)
    for (const auto& label : frame.read_from) ++count[label];
  std::vector<std::string> out;
  std::set<std::string> columns;
  for (const ExtxyzFrame& frame : frames)
    for (const auto& name : frame.unread)
      if (name.starts_with("column ")) columns.insert(name.substr(7));
  if (!columns.empty()) out.push_back(fmt::format("{}: columns not read: {}", path, fmt::join(columns, ", ")));
  for (const auto& [label, n] : count)
    out.push_back(fmt::format("{}: {}{}", path, label,
                              n == frames.size() ? "" : fmt::format(" in {} of {} frames", n, frames.size())));
  return out;
}

std::vector<std::string> label_doubts(const std::string& path, const std::vector<ExtxyzFrame>& frames) {
  std::map<ExtxyzFrame::Rivals, std::size_t> count;
  for (const ExtxyzFrame& frame : frames)
    for (const auto& rivals : frame.rivals) ++count[rivals];
  std::vector<std::string> out;
  for (const auto& [rivals, n] : count)
    out.push_back(
        fmt::format("{0}: {1} and {2} differ in {3} of {4} frames, and {1} is read; where {2} is meant, write {5}: {2}",
                    path, rivals.taken, rivals.other, n, frames.size(), rivals.label));
  return out;
}

}  // namespace cambium::deepmd
