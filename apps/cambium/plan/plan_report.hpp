#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/cambium/plan/layouts.hpp"

namespace cambium::train {

/// The page of one number of ranks: layouts compared, then `chosen` (the deck's own, or the best) in detail.
std::vector<std::string> plan_page(const PlannedLayout& chosen, const std::vector<PlannedLayout>& all, double samples,
                                   const LayoutInputs& by);

/// The same as figures: bytes and seconds.
nlohmann::json plan_figures(const PlannedLayout& layout);

}  // namespace cambium::train
