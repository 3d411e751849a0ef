#pragma once

namespace cambium::train {

/// A data set that may show each network of `models` another part of itself; an interface beside Dataset.
class VariesByMember {
 public:
  virtual ~VariesByMember() = default;
  /// Before open(), on every rank: the number of the network, from 0.
  virtual void take_member(int member) = 0;
};

}  // namespace cambium::train
