#include "core/train/kinds/layout.hpp"

#include <algorithm>

namespace cambium::train {

static std::int64_t round_up(std::int64_t n, std::int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

void FlatLayout::add(std::vector<ParameterInfo> parameters) {
  for (auto& info : parameters) {
    Tensor tensor;
    tensor.elements = 1;
    for (auto extent : info.shape) tensor.elements *= extent;
    tensor.info = std::move(info);
    parameters_ += tensor.elements;
    tensors_.push_back(std::move(tensor));
  }
}

FlatLayout::FlatLayout(std::vector<ParameterInfo> parameters, const std::vector<std::vector<int>>& groups,
                       std::int64_t padding, std::int64_t alignment) {
  add(std::move(parameters));
  for (const auto& members : groups) {
    Group group{size_, size_, 0, static_cast<int>(members.size())};
    for (int k : members) {
      tensors_[k].offset = size_;
      tensors_[k].group = static_cast<int>(groups_.size());
      size_ += round_up(tensors_[k].elements, alignment);
    }
    group.end = size_ = group.begin + round_up(size_ - group.begin, padding);
    groups_.push_back(group);
  }
}

FlatLayout::FlatLayout(const FlatLayout& whole, std::int64_t begin, std::int64_t end) : size_(end - begin) {
  for (const auto& tensor : whole.tensors()) {
    const std::int64_t from = std::max(begin, tensor.offset), to = std::min(end, tensor.offset + tensor.elements);
    if (from >= to) continue;
    Tensor piece = tensor;
    if (to - from < tensor.elements) piece.info.shape = {to - from};
    piece.offset = from - begin;
    piece.elements = to - from;
    piece.group = 0;
    parameters_ += piece.elements;
    tensors_.push_back(std::move(piece));
  }
  groups_.push_back({0, size_, 0, static_cast<int>(tensors_.size())});
}

FlatLayout::FlatLayout(std::vector<ParameterInfo> parameters, std::int64_t group_elements, std::int64_t padding,
                       std::int64_t alignment) {
  add(std::move(parameters));
  // Groups are filled from the end, so the one that is sent first is full.
  std::int64_t room = 0;
  for (int k = static_cast<int>(tensors_.size()) - 1; k >= 0; --k) {
    const std::int64_t needed = round_up(tensors_[k].elements, alignment);
    if (groups_.empty() || needed > room) {
      groups_.push_back({0, 0, k, k + 1});
      room = group_elements;
    }
    groups_.back().first = k;
    tensors_[k].group = static_cast<int>(groups_.size()) - 1;
    room = std::max<std::int64_t>(0, room - needed);
  }
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    group->begin = size_;
    for (int k = group->first; k < group->last; ++k) {
      tensors_[k].offset = size_;
      size_ += round_up(tensors_[k].elements, alignment);
    }
    size_ = group->begin + round_up(size_ - group->begin, padding);
    group->end = size_;
  }
}

}  // namespace cambium::train
