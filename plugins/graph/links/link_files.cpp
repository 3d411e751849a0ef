#include "plugins/graph/links/link_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/reading.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

namespace {

/// Reads a group with the items of every user.
std::vector<Link> listed(const io::File& file, const std::string& name, std::int64_t users, std::int64_t items) {
  const auto group = file.group(name);
  const auto start = group.read<std::vector<std::int64_t>>("indptr");
  const auto item = group.read<std::vector<std::int32_t>>("items");
  if (std::ssize(start) != users + 1 || start.front() != 0 || start.back() != std::ssize(item))
    throw InputError(fmt::format(
        "'{}': /{}/indptr must hold {} values from 0 to {}, the count of /{}/items; the file is cut short or damaged",
        file.file(), name, users + 1, item.size(), name));
  std::vector<Link> out;
  out.reserve(item.size());
  for (std::int64_t user = 0; user < users; ++user) {
    const auto first = start[user], last = start[static_cast<std::size_t>(user) + 1];
    if (first > last || last > std::ssize(item))
      throw InputError(fmt::format("'{}': /{}/indptr falls at user {}; it must rise", file.file(), name, user));
    for (auto e = first; e < last; ++e) {
      const auto i = item[e];
      if (i < 0 || i >= items)
        throw InputError(fmt::format("'{}': /{}/items of user {} holds {}; items are numbered 0 to {}", file.file(),
                                     name, user, i, items - 1));
      out.push_back({static_cast<std::int32_t>(user), i});
    }
  }
  return out;
}

std::int64_t count_of(const io::File& file, const char* name) {
  const auto out = file.attribute<std::int64_t>(name);
  if (out < 1 || out > most_nodes)
    throw InputError(fmt::format("'{}' states {} {}, expected 1 to {}", file.file(), out, name, most_nodes));
  return out;
}

LinkParts users_and_items(const io::File& file, bool tuning) {
  LinkParts out;
  out.users = count_of(file, "users");
  out.items = count_of(file, "items");
  out.training = listed(file, "train", out.users, out.items);
  if (tuning && !file.exists("validation"))
    throw InputError(fmt::format(
        "'{}' has no group validation: its links would be held out for tuning; remove tuning, or add the group",
        file.file()));
  if (file.exists("validation")) out.validation = listed(file, "validation", out.users, out.items);
  if (file.exists("test")) out.held_out = listed(file, "test", out.users, out.items);
  return out;
}

LinkParts nodes_and_edges(const io::File& file) {
  LinkParts out;
  out.bipartite = false;
  out.users = out.items = count_of(file, "nodes");
  const auto pairs = file.dataset("edges");
  const auto shape = pairs.shape();
  if (shape.size() != 2 || shape[1] != 2)
    throw InputError(fmt::format("'{}': /edges must have two columns, the nodes of each edge", file.file()));
  const auto ends = pairs.read<std::vector<std::int32_t>>();
  for (std::size_t k = 0; k + 1 < ends.size(); k += 2) out.training.push_back({ends[k], ends[k + 1]});
  return out;
}

using Numbers = std::vector<std::int64_t>;

/// Numbering of users, items or nodes: the IDs that occur, or the given number of IDs from 0; from 1 if the last occurs
/// and 0 does not.
Numbering numbering_of(const LinkText& from, std::int64_t said, const std::vector<const Numbers*>& lists,
                       const char* what) {
  Numbers all;
  for (const auto* list : lists) all.insert(all.end(), list->begin(), list->end());
  const auto named = Numbering::of_named(std::move(all));
  if (named.size() > most_nodes)
    throw InputError(fmt::format("{}: {} {}; {} are the most", from.training, named.size(), what, most_nodes));
  if (said == 0 || named.size() == 0) return named;
  return Numbering(said, named.number(0) == 1 && named.number(named.size() - 1) == said ? 1 : 0);
}

std::vector<Link> links_of(const EdgeText& text, const Numbering& users, const Numbering& items, bool bipartite) {
  std::vector<Link> out;
  out.reserve(text.u.size());
  for (std::int64_t k = 0; k < text.size(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const auto user = users.node(text.u[at]), item = items.node(text.v[at]);
    if (!user)
      text.fail(k,
                fmt::format("there is no {} {}; they are {}", bipartite ? "user" : "node", text.u[at], users.range()));
    if (!item)
      text.fail(k,
                fmt::format("there is no {} {}; they are {}", bipartite ? "item" : "node", text.v[at], items.range()));
    out.push_back({*user, *item});
  }
  return out;
}

}  // namespace

LinkParts read_links(const std::string& path, bool tuning) {
  LinkParts out;
  io::reading(path, [&] {
    const auto file = io::File::open(path);
    if (file.has_attribute("users") && file.has_attribute("items"))
      out = users_and_items(file, tuning);
    else if (file.has_attribute("nodes") && !tuning)
      out = nodes_and_edges(file);
    else
      throw InputError(fmt::format("'{}' has no attributes 'users' and 'items'{}; is it a file of links?", path,
                                   tuning ? ", which tuning needs" : ", and no 'nodes' either"));
  });
  out.source = path;
  return out;
}

LinkParts read_link_lines(const LinkText& from) {
  LinkParts out;
  out.source = from.training;
  out.bipartite = from.bipartite;
  auto training = read_edge_text(from.training, from.keys, from.bipartite);
  EdgeText held_out, validation;
  if (!from.validation.empty()) validation = read_edge_text(from.validation, from.keys, from.bipartite);
  if (!from.validation.empty() && validation.size() == 0)
    throw InputError(fmt::format("'{}' holds no link; give some, or leave validation_edges out", from.validation));
  if (!from.held_out.empty()) held_out = read_edge_text(from.held_out, from.keys, from.bipartite);
  if (!from.held_out.empty() && held_out.size() == 0)
    throw InputError(
        fmt::format("'{}' holds no link; give some, or leave held_out_edges out to hold out a fraction of '{}'",
                    from.held_out, from.training));
  if (from.bipartite) {
    out.user_numbers = numbering_of(from, from.users, {&training.u, &validation.u, &held_out.u}, "users");
    out.item_numbers = numbering_of(from, from.items, {&training.v, &validation.v, &held_out.v}, "items");
  } else {
    out.user_numbers = numbering_of(
        from, from.users, {&training.u, &training.v, &validation.u, &validation.v, &held_out.u, &held_out.v}, "nodes");
    out.item_numbers = out.user_numbers;
  }
  out.users = out.user_numbers.size();
  out.items = out.item_numbers.size();
  out.training = links_of(training, out.user_numbers, out.item_numbers, from.bipartite);
  out.validation = links_of(validation, out.user_numbers, out.item_numbers, from.bipartite);
  out.held_out = links_of(held_out, out.user_numbers, out.item_numbers, from.bipartite);
  for (const EdgeText* text : {&training, &validation, &held_out}) {
    out.notes.insert(out.notes.end(), text->notes.begin(), text->notes.end());
    if (!text->weight.empty())
      out.notes.push_back(fmt::format("{}: weights of its edges are not used: a link is there or not", text->path));
    out.not_positive += std::count_if(text->weight.begin(), text->weight.end(), [](double x) { return x <= 0.0; });
    if (const auto found = std::max(out.users, from.bipartite ? 0 : out.items); text->rows > found && from.users == 0)
      out.notes.push_back(fmt::format("{}: of the {} that it states, {} that no line names are left out", text->path,
                                      text->rows, text->rows - found));
  }
  return out;
}

}  // namespace cambium::graph
