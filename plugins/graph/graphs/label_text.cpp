// Classes of nodes in text form.
#include "plugins/graph/graphs/label_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>

#include "plugins/graph/graphs/cell_lines.hpp"
#include "plugins/graph/graphs/edge_headers.hpp"

namespace cambium::graph {

namespace {

using Names = std::set<std::string, std::less<>>;
const Names node_names{"node",   "nodeid",   "nodeindex", "nodeidx", "nodes", "id",      "ids",  "index",  "idx",
                       "vertex", "vertexid", "user",      "userid",  "paper", "paperid", "item", "itemid", "entity"};
const Names class_names{"class",    "classes", "classid", "classindex", "label",    "labels",    "labelid",
                        "labelidx", "y",       "target",  "targets",    "category", "community", "group"};
const Names role_names{"role", "roles", "split", "splits", "set", "subset", "part", "phase"};

Role role_in(const CellLines& lines, std::string_view cell) {
  const auto word = lower(cell);
  if (word.empty()) return Role::none;
  if (word == "training" || word == "train") return Role::training;
  if (word == "validation" || word == "valid" || word == "val") return Role::validation;
  if (word == "test") return Role::test;
  lines.fail(fmt::format("'{}' is no role of a node; training, validation and test are", cell));
}

/// A class that is not known: no cell, a word for a missing value, or -1 as in arrays.
bool is_unknown(std::string_view cell) {
  static const Names words{"", "nan", "na", "n/a", "none", "null", "?"};
  return cell == "-1" || words.contains(lower(cell));
}

/// Places of the columns in a line; `all`: their number, 0 if the file does not name them.
struct Columns {
  std::size_t node = 0, label = 1, role = 2, all = 0;
};

/// pandas writes the index of a table without a name; read and written again, it is "Unnamed: 0".
bool names_index(std::string_view cell) { return cell.empty() || plain_name(cell) == "unnamed"; }

/// Columns by their names; `unknown` receives a name of none. None unless there is one of nodes and one of classes, and
/// at most one of roles.
std::optional<Columns> columns_in(std::span<const std::string_view> names, std::optional<std::string_view>& unknown) {
  Columns out{0, 0, names.size() + 1, names.size()};
  std::array<int, 3> found{};
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto name = plain_name(names[k]);
    const auto take = [&](std::size_t& place, int& count) { place = k, ++count; };
    if (node_names.contains(name))
      take(out.node, found[0]);
    else if (class_names.contains(name))
      take(out.label, found[1]);
    else if (role_names.contains(name))
      take(out.role, found[2]);
    else if (k > 0 || !names_index(names[k]))
      unknown = names[k];
  }
  if (unknown || found[0] != 1 || found[1] != 1 || found[2] > 1) return {};
  return out;
}

class LabelReader {
 public:
  explicit LabelReader(const std::string& path) : lines_(path) {}

  std::vector<Labelled> read() {
    if (!lines_.next()) return {};
    const bool named = take_names();
    if (named && !lines_.next()) return {};
    if (named) place_unnamed();
    std::vector<Labelled> out{labelled()};
    while (lines_.next()) out.push_back(labelled());
    return out;
  }

 private:
  /// Columns from the names in the first line, or in the comment before it; true if the line holds names.
  bool take_names() {
    const auto cells = lines_.cells();
    const auto is_number = [&](std::string_view cell) { return lines_.real(cell).has_value(); };
    std::optional<std::string_view> unknown;
    if (std::any_of(cells.begin(), cells.end(), is_number)) {
      const auto remark = lines_.remark_cells();
      if (remark.size() == cells.size()) columns_ = columns_in(remark, unknown).value_or(columns_);
      return false;
    }
    if (cells.size() < 2) return false;
    const auto found = columns_in(cells, unknown);
    if (unknown)
      lines_.fail(fmt::format("'{}' names no column of labels; call them node, class and role, or id, label and split",
                              *unknown));
    if (!found)
      lines_.fail(
          fmt::format("the names '{}' must be those of one column of nodes, one of classes and at most one of roles; "
                      "call them node, class and role",
                      fmt::join(cells, "', '")));
    columns_ = *found;
    return true;
  }

  /// A first line one cell longer than the names: roles without a name, or, as tables separated by tabs or by R have,
  /// an index without one.
  void place_unnamed() {
    const auto cells = lines_.cells();
    if (cells.size() != columns_.all + 1) return;
    ++columns_.all;
    if (columns_.role >= cells.size() && !lines_.real(cells.back())) {
      columns_.role = cells.size() - 1;
      return;
    }
    ++columns_.node, ++columns_.label, ++columns_.role;
  }

  Labelled labelled() const {
    const auto cells = lines_.cells();
    if (columns_.all == 0 && (cells.size() < 2 || cells.size() > 3))
      lines_.fail(fmt::format("'node class' or 'node class role' was expected, but the line has {} word{}{}",
                              cells.size(), cells.size() == 1 ? "" : "s",
                              cells.size() == 1 ? "; is the file cut short?" : ""));
    if (cells.size() <= std::max(columns_.node, columns_.label) || (columns_.all > 0 && cells.size() > columns_.all))
      lines_.fail(fmt::format("{} columns were expected, but the line has {}; is the file cut short?", columns_.all,
                              cells.size()));
    const auto node = lines_.whole(cells[columns_.node]);
    const bool unknown = is_unknown(cells[columns_.label]);
    const auto label = unknown ? std::optional<std::int64_t>(-1) : lines_.whole(cells[columns_.label]);
    if (!node) lines_.fail(fmt::format("expected a whole number for a node, found '{}'", cells[columns_.node]));
    if (!label)
      lines_.fail(fmt::format("expected a whole number for the index of a class, found '{}'", cells[columns_.label]));
    if (!unknown && (*label < 0 || *label >= most_classes))
      lines_.fail(fmt::format("classes are numbered from 0 to {}, not {}", most_classes - 1, *label));
    const auto role = columns_.role < cells.size() ? role_in(lines_, cells[columns_.role]) : Role::none;
    return {*node, static_cast<std::int32_t>(*label), role, lines_.line_number()};
  }

  CellLines lines_;
  Columns columns_;
};

}  // namespace

std::vector<Labelled> read_labels(const std::string& path) { return LabelReader(path).read(); }

}  // namespace cambium::graph
