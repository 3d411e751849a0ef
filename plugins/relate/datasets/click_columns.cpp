#include "plugins/relate/datasets/click_columns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/table_lines.hpp"
#include "core/io/utf8.hpp"

namespace cambium::relate {

namespace {

std::string in_small_letters(const std::string& text) {
  std::string out = text;
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Default columns of labels.
bool is_label_name(const std::string& cell) {
  static constexpr std::array<std::string_view, 3> names{"label", "click", "clicked"};
  return std::find(names.begin(), names.end(), in_small_letters(cell)) != names.end();
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
}

/// True for the names 0, 1, 2, ... that pandas gives to columns without names, perhaps after an empty one of its index.
bool are_numbers_of_columns(const std::vector<std::string>& cells) {
  const std::size_t first = !cells.empty() && cells.front().empty() ? 1 : 0;
  for (std::size_t k = first; k < cells.size(); ++k)
    if (cells[k] != std::to_string(k - first)) return false;
  return cells.size() > first + 1;
}

class Selection {
 public:
  Selection(const std::vector<std::string>& first, const ClickTextKeys& keys, const std::string& where)
      : first_(first), keys_(keys), where_(where) {}

  ClickColumns take() {
    out_.header = has_header();
    for (std::size_t k = 0; k < first_.size(); ++k)
      out_.names.push_back(out_.header ? io::utf8(first_[k]) : std::to_string(k));
    user_.resize(first_.size());
    take_label();
    for (const auto& column : keys_.dense) take(column, "dense", out_.dense);
    for (const auto& column : keys_.categorical) take(column, "categorical", out_.categorical);
    if (out_.dense.empty() && out_.categorical.empty())
      throw KeyError("clicks.categorical", "categorical",
                     fmt::format("{}: select the columns of a text by the keys dense (numbers) and categorical; {}",
                                 where_, columns()));
    for (std::size_t k = 0; k < user_.size(); ++k)
      if (user_[k].empty()) out_.unused.push_back(out_.names[k]);
    name_tables();
    return std::move(out_);
  }

 private:
  /// Found by the cell of the label, which is a number in a record; else by all cells.
  bool has_header() const {
    if (keys_.header) return *keys_.header;
    if (are_numbers_of_columns(first_)) {
      constexpr std::size_t few = 5;  // a record of more numbers is hardly 0, 1, 2, ...
      if (first_.size() >= few || first_.front().empty()) return true;
      refuse_first_line();
    }
    const auto& label = keys_.label;
    if (!label.empty() && label != "none" && !is_number(label)) return true;
    if (is_number(label) && std::stoul(label) < first_.size())
      if (const auto& cell = first_[std::stoul(label)]; !io::is_missing_cell(cell)) return !label_of(cell);
    const bool words =
        std::none_of(first_.begin(), first_.end(), [](const auto& cell) { return parse_number(cell).has_value(); });
    if (words && !label.empty() && selects_by_number()) refuse_first_line();
    return words;
  }

  bool selects_by_number() const {
    const auto by_number = [](const std::string& column) {
      return column.find_first_not_of("0123456789- ") == std::string::npos;
    };
    return std::all_of(keys_.dense.begin(), keys_.dense.end(), by_number) &&
           std::all_of(keys_.categorical.begin(), keys_.categorical.end(), by_number);
  }

  [[noreturn]] void refuse_first_line() const {
    throw KeyError("clicks.header", "header",
                   fmt::format("{}: the first line '{}' may name the columns or be a record; set header: true or "
                               "header: false",
                               where_, fmt::join(first_, "', '")));
  }

  std::string columns() const {
    if (!out_.header) return fmt::format("the columns are numbered 0 to {}", out_.names.size() - 1);
    return fmt::format("the columns are: '{}'", fmt::join(out_.names, "', '"));
  }

  std::optional<std::size_t> by_name_or_number(const std::string& column, const char* key) const {
    if (out_.header) {
      const auto count = std::count(out_.names.begin(), out_.names.end(), column);
      if (count > 1)
        throw KeyError("clicks.columns.twice", key,
                       fmt::format("{}: {} columns are called '{}'; rename them, or give their numbers, from 0", where_,
                                   count, column));
      const auto found = std::find(out_.names.begin(), out_.names.end(), column);
      if (found != out_.names.end()) return static_cast<std::size_t>(found - out_.names.begin());
    }
    if (is_number(column) && std::stoul(column) < out_.names.size()) return std::stoul(column);
    return {};
  }

  void take(const std::string& column, const char* key, std::vector<std::size_t>& to) {
    if (const auto one = by_name_or_number(column, key)) return take(*one, *one, key, to);
    for (auto at = column.find('-'); at != std::string::npos; at = column.find('-', at + 1)) {
      const auto first = by_name_or_number(std::string(trim(std::string_view(column).substr(0, at))), key),
                 last = by_name_or_number(std::string(trim(std::string_view(column).substr(at + 1))), key);
      if (first && last && *first <= *last) return take(*first, *last, key, to);
    }
    throw KeyError("clicks.columns", key, fmt::format("{}: there is no column '{}'; {}", where_, column, columns()));
  }

  void take(std::size_t first, std::size_t last, const char* key, std::vector<std::size_t>& to) {
    for (std::size_t k = first; k <= last; ++k) {
      if (!user_[k].empty())
        throw KeyError("clicks.columns.shared", key,
                       fmt::format("{}: column '{}' is selected by {} and by {}; remove one of them", where_,
                                   out_.names[k], user_[k], key));
      user_[k] = key;
      to.push_back(k);
    }
  }

  void take_label() {
    std::vector<std::size_t> found;
    if (!keys_.label.empty()) {
      if (keys_.label == "none" && !by_name_or_number(keys_.label, "label")) return;
      take(keys_.label, "label", found);
      if (found.size() > 1)
        throw KeyError("clicks.label", "label",
                       fmt::format("{}: '{}' selects {} columns, expected one", where_, keys_.label, found.size()));
    } else {
      for (std::size_t k = 0; k < out_.names.size(); ++k)
        if (out_.header && is_label_name(out_.names[k])) take(k, k, "label", found);
      if (found.size() != 1)
        throw KeyError("clicks.label", "label",
                       fmt::format("{}: name the column of the labels by the key label (none: there are no labels); {}",
                                   where_, columns()));
    }
    out_.label = found.front();
  }

  /// Tables are groups of a model file, whose names have no '/' and differ.
  void name_tables() {
    for (std::size_t k = 0; k < out_.categorical.size(); ++k) {
      std::string name = out_.header ? out_.names[out_.categorical[k]] : "";
      std::replace(name.begin(), name.end(), '/', '_');
      if (name.empty() || name == ".") name = fmt::format("C{}", k + 1);
      while (std::find(out_.tables.begin(), out_.tables.end(), name) != out_.tables.end()) name += '_';
      out_.tables.push_back(std::move(name));
    }
  }

  const std::vector<std::string>& first_;
  const ClickTextKeys& keys_;
  const std::string& where_;
  ClickColumns out_;
  std::vector<std::string> user_;  ///< key that selected each column
};

}  // namespace

std::optional<double> label_of(const std::string& cell) {
  const auto word = in_small_letters(cell);
  if (word == "true") return 1.0;
  if (word == "false") return 0.0;
  return parse_number(cell);
}

ClickColumns click_columns(const std::vector<std::string>& first, const ClickTextKeys& keys, const std::string& where) {
  return Selection(first, keys, where).take();
}

}  // namespace cambium::relate
