#include "apps/cambium/sweep/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/expression.hpp"
#include "core/deck/former_names.hpp"
#include "core/deck/override.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

namespace {

constexpr std::size_t most_runs = 100000;
constexpr std::size_t longest_folder = 80;

SweptKey key_of(const OverText& over) {
  const auto equals = over.text.find('=');
  const std::string path(trim(std::string_view(over.text).substr(0, std::min(equals, over.text.size()))));
  if (equals == std::string::npos || path.empty())
    over.refuse(0, "expected key=values, for example run.seed=[1, 2, 3]");
  SweptKey key;
  key.path = path;
  key.over = over;
  key.values = swept_values(over, equals + 1);
  return key;
}

/// The keys of `sweep.over`: lists with their locations in the file; words as on the command line.
std::vector<SweptKey> keys_of(const deck::Node& over) {
  std::vector<SweptKey> keys;
  for (const auto& entry : over.entries()) {
    if (deck::is_note(entry.key)) continue;
    const deck::Node& value = entry.value;
    const OverText text{(value.defined() ? value.mark() : entry.mark).text() + ": sweep.over",
                        entry.key + "=" + (value.is_null() ? "" : deck::to_line(value))};
    if (!value.is_list()) {
      keys.push_back(key_of({text.source, entry.key + "=" + value.text()}));
      continue;
    }
    SweptKey key;
    key.path = entry.key;
    key.over = text;
    key.values = value.items();
    if (key.values.empty()) text.refuse(entry.key.size() + 1, "the list is empty; give at least one value");
    keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<SweptKey> keys_of(const deck::Node& in_deck, const SweepOptions& options, const std::string& path) {
  std::vector<SweptKey> keys;
  for (const auto& text : options.overs) keys.push_back(key_of({"--over", text}));
  if (keys.empty()) keys = keys_of(in_deck["over"]);
  if (keys.empty())
    throw InputError(
        fmt::format("no key to sweep: `cambium sweep {} --over \"run.seed=[1, 2, 3]\"`, or `sweep: {{over: "
                    "{{run.seed: [1, 2, 3]}}}}` in the deck",
                    path));
  return keys;
}

std::string folder_of(std::size_t number, std::size_t digits, const std::string& values) {
  std::string out = fmt::format("{:0{}}_", number, digits);
  for (const char c : values) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("+-.=_,").find(c) != std::string_view::npos;
    if (c != ' ') out += plain ? c : '-';
  }
  return out.substr(0, longest_folder);
}

/// Inserts a value at its key; an invalid path is shown in the text from which it came.
deck::Node with_key(const deck::Node& root, const SweptKey& key, const deck::Node& value) {
  try {
    return deck::with_value(root, key.path, value, deck::Mark{"", 0, 0});
  } catch (const InputError& error) {
    std::string_view what = error.what();
    if (what.starts_with(": ")) what.remove_prefix(2);
    throw InputError(key.over.at(0, std::string(what)));
  }
}

/// Text of a problem in one run's deck: below the text of the key if that is at fault.
std::string told(const deck::Problem& problem, const Sweep& sweep, bool& of_key) {
  of_key = true;
  for (const auto& key : sweep.table.keys) {
    if (problem.mark.line > 0 || problem.mark.source != key.over.source) continue;
    const bool inside = problem.path.starts_with(key.path), around = key.path.starts_with(problem.path);
    if (!inside && !around) continue;
    std::size_t column = static_cast<std::size_t>(std::max(0, problem.mark.column - 1));
    if (!key.over.text.starts_with(key.path)) {  // written with a former name
      column = 0;
    } else if (problem.text.starts_with("unknown key")) {  // the last component common to both paths
      const std::size_t end = std::min(problem.path.size(), key.path.size());
      const auto dot = key.path.find_last_of(".", end - 1);
      column = dot == std::string::npos ? 0 : dot + 1;
    }
    return key.over.at(column, fmt::format("{}: {}", problem.path, problem.text));
  }
  of_key = false;
  return problem.line();
}

/// Keys that were given under a former name get the present one.
void rename_keys(Sweep& sweep, const Registry& registry, deck::Problems& hints) {
  const auto schema = deck::schema_of<DeckFile>();
  for (auto& key : sweep.table.keys)
    key.path = deck::present_path(sweep.root, key.path, schema, registry, deck::Mark{key.over.source, 0, 0}, hints);
}

/// Reads every run's deck; problems common to several of them are reported once.
void read_rows(Sweep& sweep, Registry& registry, Context& context, deck::Problems& hints) {
  std::set<std::string> said;
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < sweep.table.rows.size(); ++k) {
    const auto& row = sweep.table.rows[k];
    deck::Problems problems;
    const ReadDeck read = read_deck(sweep.deck_of(row), sweep.path, sweep.named, registry, context, problems);
    if (k == 0 && problems.empty()) {
      sweep.resolved = read.resolved;
      const deck::Node resolved = deck::parse(read.resolved, sweep.path);
      for (auto& key : sweep.table.keys)
        if (const auto* spec = find_key(deck::schema_of<DeckFile>(), resolved, key.path, registry))
          key.unit = spec->unit;
    }
    for (const auto& hint : problems.hints()) hints.hint(hint.mark, hint.path, hint.text);
    for (const auto& problem : problems.all()) {
      bool of_key = false;
      const std::string text = told(problem, sweep, of_key);
      const bool of_name = problem.text.starts_with("unknown key");  // the same for every value
      if (!said.insert(of_name ? problem.path : text).second) continue;
      lines.push_back(of_key ? text : fmt::format("run {} ({}): {}", k + 1, sweep.table.values_text(row), text));
    }
  }
  if (!lines.empty()) throw InputError(join(lines, "\n"));
}

/// The numeric keys as variables of a formula, and their values in one run.
std::vector<deck::Variable> variables_of(const SweepTable& table, std::size_t run, std::vector<double>& values) {
  std::vector<deck::Variable> names;
  for (std::size_t k = 0; k < table.keys.size(); ++k) {
    const auto numbers = table.keys[k].numbers();
    if (numbers.empty()) continue;
    names.push_back({table.keys[k].name, ""});
    values.push_back(numbers[table.rows[run].values[k]]);
  }
  return names;
}

/// Errors in a theory are reported before anything has run.
void check_theory(const Sweep& sweep) {
  const std::size_t first = sweep.table.keys[0].values.size(), runs = sweep.table.rows.size();
  for (const auto& [name, mark, theory] : sweep.theory.entries()) {
    const std::string place = fmt::format("{}: sweep.theory.{}", theory.mark().text(), name);
    if (theory.is_list()) {
      if (theory.size() != first && theory.size() != runs)
        throw InputError(fmt::format("{}: found a list of {}, expected a number for each of the {} values of {}", place,
                                     theory.size(), first, sweep.table.keys[0].path));
      for (const auto& item : theory.items())
        if (!parse_number(item.text()))
          throw InputError(fmt::format("{}: found '{}', expected a number", place, deck::to_line(item)));
      continue;
    }
    try {
      expected_value(theory, sweep.table, 0);
    } catch (const deck::ExpressionError& error) {
      throw InputError(fmt::format("{}: {}", place, error.what()));
    }
  }
}

}  // namespace

double expected_value(const deck::Node& theory, const SweepTable& table, std::size_t run) {
  if (theory.is_list()) {
    const bool of_key = theory.size() == table.keys[0].values.size();
    return parse_number(theory.item(of_key ? table.rows[run].values[0] : run).text()).value_or(0.0);
  }
  std::vector<double> values;
  const auto names = variables_of(table, run, values);
  return deck::Expression::parse(theory.text(), "", names)(values);
}

void add_rows(SweepTable& table) {
  std::size_t count = 1;
  for (const auto& key : table.keys) {
    if (table.zip && key.values.size() != table.keys[0].values.size())
      key.over.refuse(0, fmt::format("with zip every key needs as many values: found {}, and {} of {}",
                                     key.values.size(), table.keys[0].values.size(), table.keys[0].path));
    count = table.zip ? key.values.size() : count * key.values.size();
    if (count > most_runs) key.over.refuse(0, fmt::format("more than {} runs; sweep fewer keys or values", most_runs));
  }
  const std::size_t digits = std::max<std::size_t>(3, std::to_string(count).size());
  for (std::size_t n = 0; n < count; ++n) {
    SweepTable::Row row{std::vector<std::size_t>(table.keys.size(), n), {}};
    std::size_t rest = n;
    for (std::size_t k = table.keys.size(); !table.zip && k-- > 0; rest /= table.keys[k].values.size())
      row.values[k] = rest % table.keys[k].values.size();
    row.folder = folder_of(n + 1, digits, table.values_text(row));
    table.rows.push_back(std::move(row));
  }
}

std::string SweepTable::values_text(const Row& row) const {
  std::string out;
  for (std::size_t k = 0; k < keys.size(); ++k)
    out += fmt::format("{}{}={}", k ? ", " : "", keys[k].name, deck::to_line(keys[k].values[row.values[k]]));
  return out;
}

std::vector<std::size_t> SweepTable::extents() const {
  std::vector<std::size_t> out;
  for (const auto& key : keys) out.push_back(key.values.size());
  if (zip) out.resize(1);
  return out;
}

deck::Node Sweep::deck_of(const SweepTable::Row& row) const {
  deck::Node out = root;
  for (std::size_t k = 0; k < table.keys.size(); ++k)
    out = with_key(out, table.keys[k], table.keys[k].values[row.values[k]]);
  return deck::with_value(out, "run.directory", deck::Node::scalar(directory_of(row), true, root["run"].mark()),
                          root["run"].mark());
}

std::string Sweep::directory_of(const SweepTable::Row& row) const {
  return (std::filesystem::path(directory) / row.folder).string();
}

Sweep read_sweep(const WrittenDeck& written, const DeckOptions& deck_options, const SweepOptions& options,
                 Registry& registry, Context& context) {
  const std::string& path = written.path;
  deck::Problems hints;
  const auto [whole, named] = load_deck(written, deck_options, registry, context, hints);
  Sweep sweep;
  sweep.named = named;
  sweep.path = path;
  sweep.options = deck_options;
  sweep.root = whole.without([](const std::string& key) { return key == "sweep"; });
  const deck::Node in_deck = whole["sweep"];
  if (in_deck.is_map()) {  // its own keys
    deck::Problems problems;
    const auto own = deck::read<DeckFile::Sweep>(in_deck, problems, &registry);
    problems.throw_if_any();
    sweep.table.zip = own.zip;
    sweep.theory = own.theory.node;
  }
  // Keys of the command line replace those in the deck, and are paired only if it requests it.
  sweep.table.zip = options.zip || (options.overs.empty() && sweep.table.zip);
  sweep.table.keys = keys_of(in_deck, options, path);
  rename_keys(sweep, registry, hints);
  for (const auto& key : sweep.table.keys)
    if (key.path == "run.directory" || key.path == "plugins" || key.path == "sweep" || key.path.starts_with("sweep."))
      key.over.refuse(0, fmt::format("'{}' cannot be swept: it is the same for all runs of a sweep", key.path));
  if (!options.overs.empty() && sweep.theory.is_map()) {  // lists are of the deck's own values
    std::vector<deck::Node::Entry> formulas;
    for (const auto& entry : sweep.theory.entries())
      if (!entry.value.is_list()) formulas.push_back(entry);
    sweep.theory = deck::Node::map(std::move(formulas));
  }
  sweep.directory = sweep.root["run"]["directory"].text();
  const bool placed = std::any_of(deck_options.overrides.begin(), deck_options.overrides.end(),
                                  [](const auto& text) { return text.starts_with("run.directory="); });
  if (!in_deck.is_map() && !placed) sweep.directory += "_sweep";  // may hold an earlier single run
  finish_keys(sweep.table.keys);
  add_rows(sweep.table);
  if (options.row < 0 || options.row > std::ssize(sweep.table.rows))
    throw InputError(fmt::format("--row {}: there are runs 1 to {}; `cambium sweep {} --dry-run` lists them",
                                 options.row, sweep.table.rows.size(), path));
  read_rows(sweep, registry, context, hints);
  check_theory(sweep);
  for (const auto& hint : hints.hints()) context.log.warn(hint.line());
  finish_keys(sweep.table.keys);  // once more, now that units are known: 1 ps and 1000 fs are one value
  return sweep;
}

}  // namespace cambium
