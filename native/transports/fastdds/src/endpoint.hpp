// One stream's sending or receiving end: the DDS entity, its listener, its counters.
#pragma once

#include <atomic>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <nlohmann/json.hpp>

#include "comseclab/transport.h"
#include "reporter.hpp"

struct comseclab_writer : eprosima::fastdds::dds::DataWriterListener {
  explicit comseclab_writer(comseclab::dds::Reporter reporter) : report(reporter) {}

  comseclab_status publish(const uint8_t* bytes, size_t size, comseclab_error* error);
  [[nodiscard]] nlohmann::json statistics() const;

  void on_publication_matched(eprosima::fastdds::dds::DataWriter* writer,
                              const eprosima::fastdds::dds::PublicationMatchedStatus& status) override;
  void on_offered_deadline_missed(eprosima::fastdds::dds::DataWriter* writer,
                                  const eprosima::fastdds::dds::OfferedDeadlineMissedStatus& status) override;
  void on_offered_incompatible_qos(eprosima::fastdds::dds::DataWriter* writer,
                                   const eprosima::fastdds::dds::OfferedIncompatibleQosStatus& status) override;

  comseclab::dds::Reporter report;
  eprosima::fastdds::dds::DataWriter* entity = nullptr;
  std::atomic<uint64_t> taken = 0;
  std::atomic<uint64_t> timed_out = 0;
  std::atomic<uint64_t> deadlines_missed = 0;
};

struct comseclab_reader : eprosima::fastdds::dds::DataReaderListener {
  comseclab_reader(comseclab::dds::Reporter reporter, comseclab_on_message message, void* context)
      : report(reporter), on_message(message), message_context(context) {}

  [[nodiscard]] nlohmann::json statistics() const;

  void on_data_available(eprosima::fastdds::dds::DataReader* reader) override;
  void on_subscription_matched(eprosima::fastdds::dds::DataReader* reader,
                               const eprosima::fastdds::dds::SubscriptionMatchedStatus& status) override;
  void on_requested_deadline_missed(eprosima::fastdds::dds::DataReader* reader,
                                    const eprosima::fastrtps::RequestedDeadlineMissedStatus& status) override;
  void on_requested_incompatible_qos(eprosima::fastdds::dds::DataReader* reader,
                                     const eprosima::fastdds::dds::RequestedIncompatibleQosStatus& status) override;
  void on_sample_lost(eprosima::fastdds::dds::DataReader* reader,
                      const eprosima::fastdds::dds::SampleLostStatus& status) override;
  void on_sample_rejected(eprosima::fastdds::dds::DataReader* reader,
                          const eprosima::fastrtps::SampleRejectedStatus& status) override;

  comseclab::dds::Reporter report;
  comseclab_on_message on_message;
  void* message_context;
  eprosima::fastdds::dds::DataReader* entity = nullptr;
  std::atomic<uint64_t> delivered = 0;
  std::atomic<uint64_t> lost = 0;
  std::atomic<uint64_t> rejected = 0;
  std::atomic<uint64_t> malformed = 0;
  std::atomic<uint64_t> deadlines_missed = 0;
};
