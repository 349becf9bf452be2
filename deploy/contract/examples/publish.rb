#!/usr/bin/env ruby
# frozen_string_literal: true

# Publishes one push message to PushFleet and waits until RabbitMQ has it safely.
#
# Needs bunny: gem install bunny
# Run: AMQP_URL=amqps://user:password@rabbitmq.example.com/%2F ruby publish.rb

require "bunny"
require "json"
require "securerandom"

APP = "com.example.shop"
LANE = "now" # or "bulk"

message_id = SecureRandom.uuid
body = {
  app: APP,
  tokens: ["00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"],
  push_type: "alert",
  priority: 10,
  collapse_id: "order-17",
  expires_at: Time.now.to_i + 3600,
  payload: { aps: { alert: { title: "On its way", body: "Order 17 has left our house." } } }
}

begin
  connection = Bunny.new(ENV.fetch("AMQP_URL", "amqp://guest:guest@localhost:5672/%2F"))
  connection.start
  channel = connection.create_channel
  channel.confirm_select
  exchange = channel.topic("pushfleet", passive: true)
  returned = nil
  exchange.on_return { |info, _properties, _body| returned = info.reply_text }

  exchange.publish(
    JSON.generate(body),
    routing_key: "#{APP}.#{LANE}",
    message_id: message_id,
    timestamp: Time.now.to_i,
    content_type: "application/json",
    persistent: true,
    mandatory: true # unroutable is an error: the app has no queue
  )
  raise "RabbitMQ refused the message" unless channel.wait_for_confirms
  raise "no queue took the message: #{returned}" if returned

  connection.close
rescue StandardError => e
  # Publish again with the same message_id: it stays one push.
  abort "not published: #{e.message}"
end

puts message_id
