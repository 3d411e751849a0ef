#include "core/plugin/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/placed_error.hpp"
#include "core/plugin/bench.hpp"

namespace cambium {

namespace {

void add_once(std::vector<std::string>& words, const std::string& word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

/// Lower case, with '_' for common separators.
std::string plain(std::string_view word) {
  std::string out;
  for (const char c : trim(word)) {
    const bool between = c == '-' || c == '/' || c == ' ';
    out += between ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

Registry::Registry() : benches_(std::make_unique<std::vector<Bench>>()) {}
Registry::~Registry() = default;

void Registry::add_bench(Bench bench) { benches_->push_back(std::move(bench)); }

const std::vector<Bench>& Registry::benches() const {
  for (const auto& late : late_) late->load();
  return *benches_;
}

Registry::Added& Registry::Added::synonyms(std::initializer_list<const char*> words) {
  auto& type = *registry_.types_[type_];
  for (const char* word : words) {
    if (plain(word) != word || word == type.entry.name)
      throw InternalError(
          fmt::format("synonym '{}' of {} '{}': write it in small letters with '_', and not the name itself", word,
                      type.entry.kind, type.entry.name));
    type.synonyms.emplace_back(word);
  }
  return *this;
}

/// Index of a type in types_; their number if there is none of this name or former name.
std::size_t Registry::place(std::string_view kind, std::string_view name) const {
  std::size_t k = 0;
  for (; k < types_.size(); ++k) {
    const auto& entry = types_[k]->entry;
    if (entry.kind == kind && (entry.name == name || contains(entry.formerly, name))) break;
  }
  return k;
}

Registry::Added Registry::insert(deck::TypeEntry entry, Factory factory) {
  const std::size_t k = place(entry.kind, entry.name);
  const bool declared = k < types_.size() && loading_ && types_[k]->later == loading_ && !types_[k]->factory;
  if (k < types_.size() && !declared)
    throw InternalError(fmt::format("{} '{}' is added by plugin '{}' and by plugin '{}'", entry.kind, entry.name,
                                    types_[k]->entry.plugin, entry.plugin));
  if (loading_ && !declared)
    throw InternalError(fmt::format("{} adds {} '{}', which is not among the types that its CMakeLists.txt names",
                                    loading_->library.file, entry.kind, entry.name));
  if (!declared) types_.push_back(std::make_unique<Type>());
  types_[k]->entry = std::move(entry);
  types_[k]->factory = std::move(factory);
  return {*this, k};
}

const deck::TypeEntry* Registry::find(std::string_view kind, std::string_view name) const {
  if (place(kind, name) == types_.size()) load_kind(kind);
  const std::size_t k = place(kind, name);
  if (k == types_.size()) return nullptr;
  if (types_[k]->later) types_[k]->later->load();
  return &types_[k]->entry;
}

const deck::TypeEntry* Registry::listed(std::string_view kind, std::string_view name) const {
  const std::size_t k = place(kind, name);
  return k < types_.size() && !types_[k]->entry.doc.empty() ? &types_[k]->entry : find(kind, name);
}

void Registry::rename(std::string_view kind, std::string_view former, std::string_view name) {
  if (const std::size_t taken = place(kind, former); taken < types_.size())
    throw InternalError(fmt::format("{} '{}' cannot be a former name of '{}': plugin '{}' has that name", kind, former,
                                    name, types_[taken]->entry.plugin));
  for (const auto& type : types_)
    if (type->entry.kind == kind && type->entry.name == name) {
      type->entry.formerly.emplace_back(former);
      return;
    }
  throw InternalError(fmt::format("{} '{}' is to be the new name of '{}', but is not there", kind, name, former));
}

void* Registry::create(std::string_view kind, std::string_view name, const deck::Node& keys, Context& context) const {
  const auto* entry = find(kind, name);
  for (const auto& type : types_) {
    if (&type->entry != entry) continue;
    deck::Problems names;
    const auto present = deck::present_names(keys, entry->schema, this, names);
    for (const auto& hint : names.hints()) context.log.warn(hint.line());
    try {
      return type->factory(present, context);
    } catch (const deck::DeckError&) {  // has its location already
      throw;
    } catch (const InputError& error) {
      throw deck::PlacedError(deck::placed(error, present));
    }
  }
  throw InputError(deck::placed(deck::unknown_type(*this, kind, name), keys).text);
}

std::vector<std::string> Registry::kinds() const {
  std::vector<std::string> out;
  for (const auto& type : types_) add_once(out, type->entry.kind);
  return out;
}

std::vector<std::string> Registry::names(std::string_view kind) const {
  std::vector<std::string> out;
  for (const auto& type : types_)
    if (type->entry.kind == kind) out.push_back(type->entry.name);
  return out;
}

std::vector<std::string> Registry::plugins() const {
  std::vector<std::string> out;
  for (const auto& type : types_) add_once(out, type->entry.plugin);
  return out;
}

void Registry::known_elsewhere(std::string_view kind, std::string_view name, std::string_view plugin,
                               std::string_view how) {
  elsewhere_.push_back({std::string(kind), std::string(name), std::string(plugin), std::string(how)});
}

/// "'csvr' (description) or 'langevin' (description)"; empty if no type has this synonym.
std::string Registry::types_meant(std::string_view kind, std::string_view word) const {
  const std::string wanted = plain(word);
  std::vector<std::string> meant;
  for (const auto& type : types_) {
    const bool synonym = std::find(type->synonyms.begin(), type->synonyms.end(), wanted) != type->synonyms.end();
    if (type->entry.kind == kind && synonym)
      meant.push_back(fmt::format("'{}' ({})", type->entry.name, type->entry.doc));
  }
  return join(meant, " or ");
}

/// An omitted plugin is listed under its own name, as a type of the kind "plugin".
std::string Registry::elsewhere(std::string_view kind, std::string_view name) const {
  load_kind(kind);
  if (const auto meant = types_meant(kind, name); !meant.empty())
    return fmt::format("is not here by this name; take {}", meant);
  const bool plugin = kind == "plugin";
  for (const auto& e : elsewhere_)
    if (e.name == name && (e.kind == kind || (e.kind.empty() && !plugin)))
      return plugin ? fmt::format("is a plugin that this build does not have ({})", e.how)
                    : fmt::format("belongs to plugin '{}', which this build does not have ({})", e.plugin, e.how);
  return {};
}

}  // namespace cambium
