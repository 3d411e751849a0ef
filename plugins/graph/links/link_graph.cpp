#include "plugins/graph/links/link_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/graph/graphs/fingerprint.hpp"
#include "plugins/graph/graphs/graph.hpp"
#include "plugins/graph/graphs/streams.hpp"

namespace cambium::graph {

namespace {

bool before(const Link& a, const Link& b) { return a.user != b.user ? a.user < b.user : a.item < b.item; }
bool same(const Link& a, const Link& b) { return a.user == b.user && a.item == b.item; }

void require_there(const LinkParts& parts, const std::vector<Link>& links) {
  const char* user = parts.bipartite ? "user" : "node";
  const char* item = parts.bipartite ? "item" : "node";
  const auto say = [&](std::size_t k, const char* what, std::int64_t number, std::int64_t count) {
    throw InputError(fmt::format("{}: link {}: there is no {} {}; {} are numbered 0 to {}", parts.source, k + 1, what,
                                 number, std::string(what) + "s", count - 1));
  };
  for (std::size_t k = 0; k < links.size(); ++k) {
    if (links[k].user < 0 || links[k].user >= parts.users) say(k, user, links[k].user, parts.users);
    if (links[k].item < 0 || links[k].item >= parts.items) say(k, item, links[k].item, parts.items);
  }
}

/// Removes duplicates, sorts by user and item; in a plain graph, orders links from the lower to the higher node and
/// removes loops.
void tidy(std::vector<Link>& links, LinkGraph& out) {
  if (!out.bipartite) {
    for (auto& link : links)
      if (link.item < link.user) std::swap(link.user, link.item);
    const auto end = std::remove_if(links.begin(), links.end(), [](const Link& l) { return l.user == l.item; });
    out.loops += links.end() - end;
    links.erase(end, links.end());
  }
  std::sort(links.begin(), links.end(), before);
  const auto end = std::unique(links.begin(), links.end(), same);
  out.duplicates += links.end() - end;
  links.erase(end, links.end());
}

/// Moves links out of training, as long as their users, or both nodes of a plain graph, keep another one.
std::vector<Link> drawn(LinkParts& parts) {
  auto& links = parts.training;
  std::vector<std::int64_t> left(parts.users, 0);
  for (const auto& link : links) {
    ++left[link.user];
    if (!parts.bipartite) ++left[link.item];
  }
  std::vector<Link> kept, out;
  for (std::size_t k = 0; k < links.size(); ++k) {
    const auto& link = links[k];
    const bool taken = left[link.user] > 1 && (parts.bipartite || left[link.item] > 1) &&
                       Random4(parts.seed, held_out_links_stream, k, 0).uniform(0) < parts.share;
    if (taken) --left[link.user];
    if (taken && !parts.bipartite) --left[link.item];
    (taken ? out : kept).push_back(links[k]);
  }
  links = std::move(kept);
  return out;
}

sparse::Csr<float> matrix_of(std::vector<Link> links, const LinkGraph& graph) {
  if (!graph.bipartite) {
    const auto count = links.size();
    for (std::size_t k = 0; k < count; ++k) links.push_back({links[k].item, links[k].user});
    std::sort(links.begin(), links.end(), before);
  }
  sparse::Csr<float> out;
  out.rows = graph.users;
  out.columns = graph.items;
  out.start.assign(static_cast<std::size_t>(graph.users) + 1, 0);
  for (const auto& link : links) {
    ++out.start[static_cast<std::size_t>(link.user) + 1];
    out.column.push_back(link.item);
  }
  for (std::size_t i = 1; i < out.start.size(); ++i) out.start[i] += out.start[i - 1];
  out.value.assign(links.size(), 1.0f);
  return out;
}

void set_sizes(LinkParts& parts) {
  std::int64_t users = 0, items = 0;
  for (const auto* links : {&parts.training, &parts.validation, &parts.held_out})
    for (const auto& link : *links) {
      users = std::max<std::int64_t>(users, link.user + 1);
      items = std::max<std::int64_t>(items, link.item + 1);
    }
  if (!parts.bipartite) users = items = std::max(users, items);
  if (parts.users == 0) parts.users = users;
  if (parts.items == 0) parts.items = parts.bipartite ? items : parts.users;
}

/// Items with at least one link, if not all have one.
std::vector<std::int32_t> named_items(const LinkGraph& graph) {
  std::vector<char> named(graph.items, 0);
  for (const auto* links : {&graph.training, &graph.validation, &graph.held_out})
    for (const auto item : links->column) named[item] = 1;
  std::vector<std::int32_t> out;
  for (std::size_t item = 0; item < named.size(); ++item)
    if (named[item]) out.push_back(static_cast<std::int32_t>(item));
  if (std::ssize(out) == graph.items) out.clear();
  return out;
}

/// Removes from `links` those in `known`, sorted like matrix rows; returns their number.
std::int64_t take_out(const std::vector<Link>& known, std::vector<Link>& links) {
  return static_cast<std::int64_t>(std::erase_if(
      links, [&](const Link& link) { return std::binary_search(known.begin(), known.end(), link, before); }));
}

/// Sorted; in a plain graph from the lower to the higher node.
std::vector<Link> sorted(std::vector<Link> links, bool bipartite) {
  for (auto& link : links)
    if (!bipartite && link.item < link.user) std::swap(link.user, link.item);
  std::sort(links.begin(), links.end(), before);
  return links;
}

}  // namespace

void use_validation(LinkParts& parts, ValidationUse use) {
  auto& apart = parts.validation;
  if (use == ValidationUse::train) {
    parts.training = sorted(std::move(parts.training), parts.bipartite);
    apart = sorted(std::move(apart), parts.bipartite);
    take_out(parts.training, apart);  // a link of both is no duplicate to warn of
    parts.training.insert(parts.training.end(), apart.begin(), apart.end());
    apart.clear();
  } else if (use == ValidationUse::as_given) {
    const auto all = apart.size();
    apart = sorted(std::move(apart), parts.bipartite);
    if (const auto both = take_out(sorted(parts.training, parts.bipartite), apart); both > 0)
      parts.notes.push_back(
          fmt::format("{} of {} validation links are also in training and stay there; train_on_validation: false takes "
                      "them out",
                      both, all));
  } else {
    const auto known = sorted(apart, parts.bipartite);
    std::erase_if(parts.training, [&](Link link) {
      if (!parts.bipartite && link.item < link.user) std::swap(link.user, link.item);
      return std::binary_search(known.begin(), known.end(), link, before);
    });
    if (use == ValidationUse::predict) parts.held_out = std::move(apart), apart.clear();
  }
}

LinkGraphPtr make_links(LinkParts parts) {
  set_sizes(parts);
  require_there(parts, parts.training);
  require_there(parts, parts.validation);
  require_there(parts, parts.held_out);
  auto out = std::make_shared<LinkGraph>();
  out->source = parts.source;
  out->bipartite = parts.bipartite;
  out->users = parts.users;
  out->items = parts.items;
  if (out->nodes() > most_nodes)
    throw InputError(fmt::format("{}: {} users and items; {} are the most", parts.source, out->nodes(), most_nodes));
  for (auto* links : {&parts.training, &parts.validation, &parts.held_out}) tidy(*links, *out);
  take_out(parts.training, parts.validation);
  if (parts.held_out.empty() && parts.share > 0.0) parts.held_out = drawn(parts);
  out->known = take_out(parts.training, parts.held_out) + take_out(parts.validation, parts.held_out);
  if (parts.training.empty())
    throw InputError(fmt::format("{}: there are no links to train on; give some, or hold fewer out", parts.source));
  out->training = matrix_of(std::move(parts.training), *out);
  out->validation = matrix_of(std::move(parts.validation), *out);
  out->held_out = matrix_of(std::move(parts.held_out), *out);
  out->named_items = named_items(*out);
  out->user_numbers = parts.user_numbers.size() > 0 ? std::move(parts.user_numbers) : Numbering(out->users);
  out->item_numbers = parts.item_numbers.size() > 0 ? std::move(parts.item_numbers) : Numbering(out->items);
  out->notes = std::move(parts.notes);
  out->not_positive = parts.not_positive;
  Fingerprint print;
  print.add(std::vector<std::int64_t>{out->bipartite, out->users, out->items});
  for (const auto* numbers : {&out->user_numbers, &out->item_numbers})
    if (!numbers->plain()) print.add(numbers->all());
  print.add(out->training.start);
  print.add(out->training.column);
  out->fingerprint = print.value();
  return out;
}

std::vector<std::int32_t> users_of(const sparse::Csr<float>& links) {
  std::vector<std::int32_t> out;
  out.reserve(links.entries());
  for (std::int64_t user = 0; user < links.rows; ++user)
    out.insert(out.end(), links.length(user), static_cast<std::int32_t>(user));
  return out;
}

bool linked(const sparse::Csr<float>& links, std::int64_t user, std::int32_t item) {
  const auto items = links.columns_of(user);
  return std::binary_search(items.begin(), items.end(), item);
}

void report(const LinkGraph& graph, Log& log) {
  const auto times = graph.bipartite ? 1 : 2;
  log.info(fmt::format(
      "links {}: {}, {} links to train on, {}{} held out", graph.source,
      graph.bipartite ? fmt::format("{} users, {} items", graph.users, graph.items)
                      : fmt::format("{} nodes", graph.users),
      graph.training.entries() / times,
      graph.validation.entries() > 0 ? fmt::format("{} for validation, ", graph.validation.entries() / times) : "",
      graph.held_out.entries() / times));
  if (!graph.user_numbers.plain() || !graph.item_numbers.plain())
    log.info(graph.bipartite
                 ? fmt::format(
                       "  users and items are those named in the file: users {}, items {}; outputs use these indices",
                       graph.user_numbers.range(), graph.item_numbers.range())
                 : fmt::format("  nodes are those named in the file, {}; outputs use these indices",
                               graph.user_numbers.range()));
  if (!graph.named_items.empty())
    log.info(fmt::format("  {} of {} {} are in no link, and are no candidates in the evaluation",
                         graph.items - std::ssize(graph.named_items), graph.items,
                         graph.bipartite ? "items" : "nodes"));
  for (const auto& note : graph.notes) log.info("  " + note);
  const auto warn = [&](std::int64_t found, const char* what) {
    if (found > 0) log.warn(fmt::format("{}: {} link{} {}", graph.source, found, found == 1 ? "" : "s", what));
  };
  warn(graph.not_positive, "given with a weight of 0 or less, a link like the others; remove lines that state none");
  warn(graph.duplicates, "given before; each counts once");
  warn(graph.loops, "of a node with itself left out");
  warn(graph.known, "held out, but also in training or validation, left out");
}

}  // namespace cambium::graph
