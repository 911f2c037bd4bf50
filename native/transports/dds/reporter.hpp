// Hands an endpoint's events to the node.
#pragma once

#include "comseclab/transport.h"

namespace comseclab::dds {

struct Reporter {
  comseclab_on_event on_event;
  void* context;
  uint32_t stream;
  bool is_writer;

  void operator()(comseclab_event_kind kind, uint64_t count, const char* text = nullptr) const {
    if (on_event == nullptr) return;
    const comseclab_event event{sizeof event, kind, stream, is_writer ? 1 : 0, count, text};
    on_event(context, &event);
  }
};

}  // namespace comseclab::dds
