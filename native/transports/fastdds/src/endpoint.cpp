#include "endpoint.hpp"

#include <cstring>
#include <fastdds/dds/core/LoanableSequence.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <limits>
#include <string>

#include "boundary.hpp"
#include "payload.hpp"

namespace fdds = eprosima::fastdds::dds;
using comseclab::fail;
using comseclab::dds::View;
using eprosima::fastrtps::types::ReturnCode_t;

namespace {

// The policies of the DDS specification by their ids, as far as endpoints of ours can disagree on them.
const char* policy_name(uint32_t id) {
  switch (id) {
    case fdds::DURABILITY_QOS_POLICY_ID:
      return "the other end's durability does not fit";
    case fdds::DEADLINE_QOS_POLICY_ID:
      return "the other end's deadline does not fit";
    case fdds::LIVELINESS_QOS_POLICY_ID:
      return "the other end's liveliness does not fit";
    case fdds::RELIABILITY_QOS_POLICY_ID:
      return "the other end's reliability does not fit";
    default:
      return "the other end's QoS does not fit";
  }
}

comseclab_sender sender_of(const fdds::SampleInfo& info) {
  eprosima::fastrtps::rtps::GUID_t writer;
  iHandle2GUID(writer, info.publication_handle);
  comseclab_sender sender{};
  std::memcpy(sender.bytes, writer.guidPrefix.value, sizeof writer.guidPrefix.value);
  std::memcpy(sender.bytes + sizeof writer.guidPrefix.value, writer.entityId.value, sizeof writer.entityId.value);
  return sender;
}

}  // namespace

comseclab_status comseclab_writer::publish(const uint8_t* bytes, size_t size, comseclab_error* error) {
  if (size > std::numeric_limits<uint32_t>::max() - comseclab::dds::kMostAdded) {
    return fail(error, "a message may not exceed 4 GiB", COMSECLAB_TOO_LARGE);
  }
  View view{bytes, size};
  const ReturnCode_t code = entity->write(&view, fdds::HANDLE_NIL);
  if (code == ReturnCode_t::RETCODE_OK) {
    ++taken;
    return COMSECLAB_OK;
  }
  if (code == ReturnCode_t::RETCODE_TIMEOUT || code == ReturnCode_t::RETCODE_OUT_OF_RESOURCES) {
    ++timed_out;
    return fail(error,
                "the writer's history is full of samples not acknowledged yet (publish_timeout_ms, history_depth)",
                COMSECLAB_AGAIN);
  }
  return fail(error, "Fast DDS did not take the sample, return code " + std::to_string(code()));
}

nlohmann::json comseclab_writer::statistics() const {
  fdds::PublicationMatchedStatus matched;
  entity->get_publication_matched_status(matched);
  const bool acknowledged = entity->wait_for_acknowledgments({0, 1}) == ReturnCode_t::RETCODE_OK;
  return {{"matched", matched.current_count},
          {"taken", taken.load()},
          {"timed_out", timed_out.load()},
          {"deadlines_missed", deadlines_missed.load()},
          {"all_acknowledged", acknowledged}};
}

void comseclab_writer::on_publication_matched(fdds::DataWriter* /*writer*/,
                                              const fdds::PublicationMatchedStatus& status) {
  report(COMSECLAB_MATCHED, static_cast<uint64_t>(status.current_count));
}

void comseclab_writer::on_offered_deadline_missed(fdds::DataWriter* /*writer*/,
                                                  const fdds::OfferedDeadlineMissedStatus& status) {
  deadlines_missed += status.total_count_change;
  report(COMSECLAB_DEADLINE, status.total_count_change);
}

void comseclab_writer::on_offered_incompatible_qos(fdds::DataWriter* /*writer*/,
                                                   const fdds::OfferedIncompatibleQosStatus& status) {
  report(COMSECLAB_REJECTED, status.total_count_change, policy_name(status.last_policy_id));
}

nlohmann::json comseclab_reader::statistics() const {
  fdds::SubscriptionMatchedStatus matched;
  entity->get_subscription_matched_status(matched);
  return {{"matched", matched.current_count},
          {"delivered", delivered.load()},
          {"lost", lost.load()},
          {"rejected", rejected.load()},
          {"malformed", malformed.load()},
          {"deadlines_missed", deadlines_missed.load()}};
}

void comseclab_reader::on_data_available(fdds::DataReader* reader) {
  // A loan keeps the payload alive in the reader's history, so the views need no copy.
  fdds::LoanableSequence<View> views;
  fdds::SampleInfoSeq infos;
  while (reader->take(views, infos) == ReturnCode_t::RETCODE_OK) {
    for (fdds::LoanableCollection::size_type i = 0; i < views.length(); ++i) {
      if (!infos[i].valid_data) continue;
      if (views[i].bytes == nullptr) {
        ++malformed;
        report(COMSECLAB_REJECTED, 1, "a sample is shorter than its own header says");
        continue;
      }
      ++delivered;
      const comseclab_sender sender = sender_of(infos[i]);
      on_message(message_context, views[i].bytes, views[i].size, &sender);
    }
    reader->return_loan(views, infos);
  }
}

void comseclab_reader::on_subscription_matched(fdds::DataReader* /*reader*/,
                                               const fdds::SubscriptionMatchedStatus& status) {
  report(COMSECLAB_MATCHED, static_cast<uint64_t>(status.current_count));
}

void comseclab_reader::on_requested_deadline_missed(fdds::DataReader* /*reader*/,
                                                    const eprosima::fastrtps::RequestedDeadlineMissedStatus& status) {
  deadlines_missed += status.total_count_change;
  report(COMSECLAB_DEADLINE, status.total_count_change);
}

void comseclab_reader::on_requested_incompatible_qos(fdds::DataReader* /*reader*/,
                                                     const fdds::RequestedIncompatibleQosStatus& status) {
  report(COMSECLAB_REJECTED, status.total_count_change, policy_name(status.last_policy_id));
}

void comseclab_reader::on_sample_lost(fdds::DataReader* /*reader*/, const fdds::SampleLostStatus& status) {
  lost += status.total_count_change;
  report(COMSECLAB_LOST, static_cast<uint64_t>(status.total_count_change));
}

void comseclab_reader::on_sample_rejected(fdds::DataReader* /*reader*/,
                                          const eprosima::fastrtps::SampleRejectedStatus& status) {
  rejected += status.total_count_change;
  report(COMSECLAB_REJECTED, status.total_count_change, "the reader's history is full");
}
