#include "plugins/graph/links/made_links.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/graph/graphs/streams.hpp"

namespace cambium::graph {

void MadeLinks::describe(deck::Describe<MadeLinks>& d) {
  d("users", &MadeLinks::users, "number of users").at_least(2).at_most(1e8).def(400);
  d("items", &MadeLinks::items, "number of items").at_least(2).at_most(1e8).def(300);
  d("blocks", &MadeLinks::blocks, "number of blocks of users and items").at_least(1).at_most(1000).def(6);
  d("links", &MadeLinks::links, "mean number of links per user; duplicates count once")
      .positive()
      .at_most(1e6)
      .def(15.0);
  d("homophily", &MadeLinks::inside, "fraction of the links that lead to items of the user's block")
      .formerly("inside")
      .range(0.0, 1.0)
      .def(0.8);
  d("unequal", &MadeLinks::unequal, "skew of the popularity of items; 0: all items of a block are equally popular")
      .range(0.0, 10.0)
      .def(1.0);
  d("seed", &MadeLinks::seed, "seed of the links").at_least(0).def(1);
}

std::vector<Link> draw_links(const MadeLinks& keys) {
  const auto blocks = std::min({keys.blocks, keys.users, keys.items});
  const auto wanted = static_cast<std::int64_t>(keys.links * static_cast<double>(keys.users));
  std::vector<Link> out;
  for (std::int64_t k = 0; k < wanted; ++k) {
    const Random4 draw(static_cast<std::uint64_t>(keys.seed), made_links_stream, static_cast<std::uint64_t>(k), 0);
    const Random4 more(static_cast<std::uint64_t>(keys.seed), made_links_stream, static_cast<std::uint64_t>(k), 1);
    const auto below = [](double x, std::int64_t end) {
      return std::min(end - 1, static_cast<std::int64_t>(x * static_cast<double>(end)));
    };
    const auto user = below(draw.uniform(0), keys.users);
    const auto block = draw.uniform(1) < keys.inside ? user % blocks : below(draw.uniform(2), blocks);
    const auto count = (keys.items - block + blocks - 1) / blocks;  // items block, block + blocks, ...
    const auto place = below(std::pow(more.uniform(0), 1.0 + keys.unequal), count);
    out.push_back({static_cast<std::int32_t>(user), static_cast<std::int32_t>(block + blocks * place)});
  }
  const auto key = [](const Link& l) { return std::pair(l.user, l.item); };
  std::sort(out.begin(), out.end(), [&](const Link& a, const Link& b) { return key(a) < key(b); });
  const auto same = [&](const Link& a, const Link& b) { return key(a) == key(b); };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

}  // namespace cambium::graph
