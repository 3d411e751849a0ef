#include "plugins/deepmd/data/extxyz_frames.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"

namespace cambium::deepmd {

namespace {

using io::split;
using Keys = std::map<std::string, std::string, std::less<>>;

/// key=value and key="value with blanks" of a comment line.
Keys comment_keys(const io::TextLines& file) {
  const std::string& line = file.line();
  Keys keys;
  for (std::size_t at = line.find_first_not_of(" \t"); at < line.size(); at = line.find_first_not_of(" \t", at)) {
    const std::size_t end = std::min(line.find_first_of("= \t", at), line.size());
    const std::string key = line.substr(at, end - at);
    if (end == line.size() || line[end] != '=') {
      keys[key] = "T", at = end;
      continue;
    }
    const bool quoted = end + 1 < line.size() && line[end + 1] == '"';
    const std::size_t from = end + (quoted ? 2 : 1), to = line.find_first_of(quoted ? "\"" : " \t", from);
    if (quoted && to == std::string::npos) file.fail(fmt::format("the value of {} has no closing \"", key));
    keys[key] = line.substr(from, to - from);
    at = to == std::string::npos ? line.size() : to + (quoted ? 1 : 0);
  }
  return keys;
}

class FrameReader {
 public:
  FrameReader(io::TextLines& file, const ExtxyzLabels& labels) : file_(file), labels_(labels) {}

  ExtxyzFrame read(std::int64_t atoms) {
    if (!file_.next()) file_.fail("the file ends where a frame's comment line should be");
    keys_ = comment_keys(file_);
    find_columns();
    ExtxyzFrame out;
    read_cell(out.frame);
    read_labels(out.frame);
    for (std::int64_t n = 0; n < atoms; ++n) {
      if (!file_.next()) file_.fail(fmt::format("the file ends after {} of the frame's {} atoms", n, atoms));
      read_atom(out);
    }
    out.unread = unread();
    return out;
  }

 private:
  /// What the frame has beside its cell and its atoms.
  std::vector<std::string> unread() const {
    std::vector<std::string> out;
    for (const auto& [key, value] : keys_)
      if (key != "Lattice" && key != "Properties" && key != "pbc" && key != labels_.energy && key != labels_.virial &&
          key != labels_.stress)
        out.push_back(key);
    for (const auto& name : names_)
      if (name != "species" && name != "pos" && name != labels_.force) out.push_back("column " + name);
    return out;
  }

  double finite(std::string_view word, std::string_view what) {
    const double x = file_.real(word, what);
    if (!std::isfinite(x)) file_.fail(fmt::format("{} is not finite: {}", what, word));
    return x;
  }

  std::vector<double> numbers(const std::string& key) {
    std::vector<double> out;
    const auto found = keys_.find(key);
    if (found == keys_.end()) return out;
    for (const auto word : split(found->second)) out.push_back(finite(word, key));
    return out;
  }

  static constexpr std::int64_t most_columns = 100000;

  void find_columns() {
    std::string text = keys_.count("Properties") ? keys_["Properties"] : "species:S:1:pos:R:3";
    std::replace(text.begin(), text.end(), ':', ' ');
    const auto words = split(text);
    columns_ = {-1, -1, -1};
    names_.clear();
    count_ = 0;
    for (std::size_t k = 0; k + 2 < words.size(); k += 3) {
      const std::string_view name = words[k];
      const std::int64_t width = file_.integer(words[k + 2], "a count of Properties");
      const bool vector = name == "pos" || name == labels_.force;
      if (width < 1 || width > most_columns || (vector && width != 3))
        file_.fail(fmt::format("Properties: {} has {} columns, expected {}", name, width,
                               vector ? "3" : fmt::format("1 to {}", most_columns)));
      if (name == "species")
        columns_[0] = count_;
      else if (name == "pos")
        columns_[1] = count_;
      else if (name == labels_.force)
        columns_[2] = count_;
      names_.emplace_back(name);
      count_ += static_cast<int>(width);
      if (count_ > most_columns) file_.fail(fmt::format("Properties has more than {} columns", most_columns));
    }
    if (columns_[0] < 0 || columns_[1] < 0) file_.fail("Properties lacks species:S:1 or pos:R:3");
  }

  void read_cell(LabelledFrame& frame) {
    for (int k = 0; k < 9; ++k) q_[k / 3][k % 3] = k % 4 == 0 ? 1.0 : 0.0;
    const bool open = keys_.count("pbc") && keys_["pbc"].find_first_of("T1") == std::string::npos;
    const std::vector<double> cell = numbers("Lattice");
    if (cell.empty() && keys_.count("pbc") && !open)
      file_.fail(
          fmt::format("pbc=\"{}\", but no Lattice=\"ax ay az bx by bz cx cy cz\": give the cell, or pbc=\"F F F\" "
                      "for molecules",
                      keys_["pbc"]));
    if (cell.empty() || open) return;
    if (cell.size() != 9) file_.fail(fmt::format("Lattice holds {} numbers, not 9", cell.size()));
    if (keys_.count("pbc") && keys_["pbc"].find_first_of("F0") != std::string::npos)
      file_.fail(fmt::format("pbc=\"{}\": a frame is periodic in all three directions or in none", keys_["pbc"]));
    double rows[3][3];
    for (std::size_t k = 0; k < 9; ++k) rows[k / 3][k % 3] = cell[k] * labels_.length_factor;
    try {
      frame.box = Box::from_vectors(rows, q_);
      frame.axes = GivenAxes(q_);
    } catch (const InputError& error) {
      file_.fail(error.what());
    }
  }

  void read_labels(LabelledFrame& frame) {
    const std::vector<double> energy = numbers(labels_.energy);
    if (energy.size() == 1) frame.energy = energy[0] * labels_.energy_factor;
    std::vector<double> w = numbers(labels_.virial);
    double factor = labels_.energy_factor;
    if (w.empty() && frame.box) {
      w = numbers(labels_.stress);
      factor *= -frame.box->volume() / std::pow(labels_.length_factor, 3);
      if (w.size() == 6) w = {w[0], w[5], w[4], w[5], w[1], w[3], w[4], w[3], w[2]};
    }
    if (w.empty()) return;
    if (w.size() != 9) file_.fail(fmt::format("a virial or stress holds {} numbers, not 9", w.size()));
    frame.virial.assign(9, 0.0);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t r = 0; r < 3; ++r)
          for (std::size_t s = 0; s < 3; ++s) frame.virial[3 * a + b] += factor * q_[r][a] * w[3 * r + s] * q_[s][b];
  }

  std::array<double, 3> vector(const std::vector<std::string_view>& words, int first, double factor,
                               std::string_view what) {
    std::array<double, 3> out{};
    for (std::size_t r = 0; r < 3; ++r) {
      const double x = factor * finite(words[static_cast<std::size_t>(first) + r], what);
      for (std::size_t k = 0; k < 3; ++k) out[k] += x * q_[r][k];
    }
    return out;
  }

  void read_atom(ExtxyzFrame& out) {
    const auto words = split(file_.line());
    if (static_cast<int>(words.size()) != count_)
      file_.fail(fmt::format("expected {} columns, found {}", count_, words.size()));
    const std::string symbol(words[static_cast<std::size_t>(columns_[0])]);
    const auto found = std::find(out.species.begin(), out.species.end(), symbol);
    out.types.push_back(static_cast<int>(found - out.species.begin()));
    if (found == out.species.end()) out.species.push_back(symbol);
    out.frame.x.push_back(vector(words, columns_[1], labels_.length_factor, "a position"));
    if (columns_[2] >= 0)
      out.frame.force.push_back(vector(words, columns_[2], labels_.energy_factor / labels_.length_factor, "a force"));
  }

  io::TextLines& file_;
  const ExtxyzLabels& labels_;
  Keys keys_;
  std::array<int, 3> columns_{};  ///< of species, position, force; -1 where absent
  int count_ = 0;
  std::vector<std::string> names_;  ///< of the columns
  double q_[3][3];                  ///< turns the file's axes into Box's
};

}  // namespace

std::vector<ExtxyzFrame> read_extxyz_frames(const std::string& path, const ExtxyzLabels& labels) {
  io::TextLines file(path);
  std::vector<ExtxyzFrame> out;
  while (file.next()) {
    const auto words = split(file.line());
    if (words.empty()) continue;
    const std::int64_t atoms = words.size() == 1 ? file.integer(words[0], "the number of atoms") : -1;
    if (atoms < 1) file.fail(fmt::format("expected the number of atoms, found '{}'", file.line()));
    out.push_back(FrameReader(file, labels).read(atoms));
  }
  return out;
}

}  // namespace cambium::deepmd
